"""PETSc's binary viewer with -viewer_binary_mpiio: vectors of a grid and a matrix, read again."""
import sys

import petsc4py

petsc4py.init(sys.argv)
from petsc4py import PETSc  # noqa: E402


def viewer(name, mode):
    return PETSc.Viewer().createBinary(name, mode=mode)


def tell(case, same):
    PETSc.Sys.Print(f"case {case}: {'right' if same else 'wrong'}")


grid = PETSc.DMDA().create((600, 600), dof=4, stencil_width=1)
vector = grid.createGlobalVec()
first, last = vector.getOwnershipRange()
vector.array[:] = range(first, last)
writer = viewer("vectors.bin", "w")
for step in range(4):
    vector.shift(1.0)
    vector.view(writer)
writer.destroy()
reader, again = viewer("vectors.bin", "r"), grid.createGlobalVec()
for step in range(4):
    again.load(reader)
    again.shift(3.0 - step)
    tell(f"vector {step}", again.equal(vector))
reader.destroy()

rows = 100000
matrix = PETSc.Mat().createAIJ((rows, rows), nnz=(3, 2))
first, last = matrix.getOwnershipRange()
for row in range(first, last):
    for column in range(max(0, row - 1), min(rows, row + 2)):
        matrix[row, column] = row + column
matrix.assemble()
writer = viewer("matrix.bin", "w")
matrix.view(writer)
writer.destroy()
reader, again = viewer("matrix.bin", "r"), PETSc.Mat().create()
again.load(reader)
reader.destroy()
tell("matrix", again.equal(matrix))
