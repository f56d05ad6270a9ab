"""Writes a mesh of cubes, box.msh, in the format of Gmsh, for Code_Saturne's preprocessor."""
N = 40


def node(i, j, k):
    return 1 + i + (N + 1) * (j + (N + 1) * k)


def corners(i, j, k):
    square = ((0, 0), (1, 0), (1, 1), (0, 1))
    return [node(i + x, j + y, k + z) for z in (0, 1) for x, y in square]


EDGES, CUBES = range(N + 1), range(N)
with open("box.msh", "w", encoding="ascii") as file:
    print(f"$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{len(EDGES) ** 3}", file=file)
    for place in ((i, j, k) for k in EDGES for j in EDGES for i in EDGES):
        print(node(*place), *(x / N for x in place), file=file)
    print(f"$EndNodes\n$Elements\n{N ** 3}", file=file)
    cubes = ((i, j, k) for k in CUBES for j in CUBES for i in CUBES)
    for number, place in enumerate(cubes, start=1):
        print(number, "5 2 1 1", *corners(*place), file=file)
    print("$EndElements", file=file)
