"""Pixels put into clusters (k-means) by their textures and their spectrum.

Features are bytes and centres are whole numbers, so all sums are exact: which cluster a pixel is
in does not depend on the MPI, on the number of ranks, or on the order in which anything is added.
"""

import numpy as np
from mpi4py import MPI

CLUSTERS, PASSES = 6, 3
BLOCK = 1 << 16  # pixels at once; a float holds the sum of so many bytes exactly


def feature_of(texture, comm):
    """The texture in 256 steps of its largest value."""
    largest = comm.allreduce(float(texture.max()), MPI.MAX)
    return (texture * np.float32(255 / largest if largest else 0)).astype(np.uint8)


def clusters_of(features, slabs):
    """The cluster of each of this rank's pixels, (height, columns). `features`: bytes, (number,
    height, columns)."""
    pixels = features.reshape(len(features), -1)
    centres = first_centres(features, slabs)
    for _ in range(PASSES):
        centres = moved(centres, pixels, slabs.comm)
    labels = np.concatenate([nearest(block, centres) for block in blocks_of(pixels)])
    return labels.astype(np.uint8).reshape(features.shape[1:])


def first_centres(features, slabs):
    """Those of pixels on the picture's diagonal."""
    centres = np.zeros((CLUSTERS, len(features)), np.int64)
    for index in range(CLUSTERS):
        row, column = ((2 * index + 1) * extent // (2 * CLUSTERS)
                       for extent in (slabs.height, slabs.width))
        if slabs.columns.start <= column < slabs.columns.stop:
            centres[index] = features[:, row, column - slabs.columns.start]
    slabs.comm.Allreduce(MPI.IN_PLACE, centres)
    return centres


def moved(centres, pixels, comm):
    """Each centre where the mean of its pixels is; one that has none stays."""
    sums = np.zeros((len(centres), len(pixels) + 1), np.int64)  # the last column counts
    for block in blocks_of(pixels):
        is_in = (nearest(block, centres) == np.arange(len(centres))[:, None]).astype(np.float32)
        sums[:, :-1] += (is_in @ block.T).astype(np.int64)
        sums[:, -1] += is_in.sum(axis=1).astype(np.int64)
    comm.Allreduce(MPI.IN_PLACE, sums)
    counts = sums[:, -1:]
    means = np.rint(sums[:, :-1] / np.maximum(counts, 1)).astype(np.int64)
    return np.where(counts > 0, means, centres)


def nearest(block, centres):
    """The index of the centre nearest to each pixel."""
    squares = (centres ** 2).sum(axis=1)[:, None].astype(np.float32)
    return np.argmin(squares - 2 * (centres.astype(np.float32) @ block), axis=0)


def blocks_of(pixels):
    for begin in range(0, pixels.shape[1], BLOCK):
        yield pixels[:, begin:begin + BLOCK].astype(np.float32)
