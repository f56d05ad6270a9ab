"""Prints a sum of the data, names and attributes of each HDF5 file it is given, but of no dates."""
import hashlib
import sys

import h5py


def add(total, name, node):
    total.update(name.encode())
    for key, value in sorted(node.attrs.items()):
        total.update(f"{key}={value!r}".encode())
    if isinstance(node, h5py.Dataset):
        total.update(f"{node.dtype}{node.shape}".encode())
        total.update(node[()].tobytes())


for path in sys.argv[1:]:
    total = hashlib.sha256()
    with h5py.File(path, "r") as file:
        file.visititems(lambda name, node, total=total: add(total, name, node))
    print(path, total.hexdigest()[:12])
