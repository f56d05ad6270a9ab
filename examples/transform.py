"""A distributed two-dimensional FFT, as FFTW's own for MPI: lines of one direction by FFTW, an
all-to-all that transposes, lines of the other direction.

FFTW's library for MPI is not used: Debian has it for its own Open MPI alone, and it has no place in
which a program could call MPI_Test while it transforms.
"""

import numpy as np
import pyfftw
from mpi4py import MPI

BATCH = 32  # lines that are transformed at once; between two batches the program may test


def nothing():
    """What is called between batches if nothing else is asked for."""


class Slabs:
    """A height x width grid dealt to the ranks by columns, and by rows.

    A *column slab* is kept transposed, as (my columns, height), and a *row
    slab* as (my rows, width): either way the direction to be transformed is
    contiguous. `between_batches` is called while lines are transformed.
    """

    def __init__(self, comm, height, width, between_batches=nothing):
        if min(height, width) < BATCH * comm.size:
            raise ValueError(f"each rank must have {BATCH} rows and {BATCH} columns at least")
        self.comm, self.height, self.width = comm, height, width
        self.row_bounds = even_bounds(height, comm.size)
        self.column_bounds = even_bounds(width, comm.size)
        self.rows = slice(*self.row_bounds[comm.rank:comm.rank + 2])
        self.columns = slice(*self.column_bounds[comm.rank:comm.rank + 2])
        self.between_batches = between_batches
        self.plans = {(length, direction): plan_of(length, direction)
                      for length in (height, width) for direction in ("FORWARD", "BACKWARD")}

    def forward(self, column_slab):
        """2-D FFT from column slab to row slab."""
        rows = self._to_rows(self.transform_lines(column_slab, "FORWARD"))
        return self.transform_lines(rows, "FORWARD")

    def inverse(self, row_slab):
        """Inverse 2-D FFT from row slab to column slab, times height x width."""
        columns = self._to_columns(self.transform_lines(row_slab, "BACKWARD"))
        return self.transform_lines(columns, "BACKWARD")

    def transform_lines(self, slab, direction):
        """The FFT of each line. The last batch may have lines of the one before it, so that all are
        transformed by the same plan: how a line is rounded does not depend on the ranks."""
        plan, result = self.plans[slab.shape[1], direction], np.empty_like(slab)
        for begin in range(0, len(slab), BATCH):
            at = min(begin, len(slab) - BATCH)
            plan.update_arrays(slab[at:at + BATCH], result[at:at + BATCH])
            plan.execute()
            self.between_batches()
        return result

    def _to_rows(self, column_slab):
        return self._transpose(column_slab, self.row_bounds, self.column_bounds)

    def _to_columns(self, row_slab):
        return self._transpose(row_slab, self.column_bounds, self.row_bounds)

    def _transpose(self, mine, split_bounds, stack_bounds):
        """Deal the second axis of `mine` to the ranks; stack what arrives on the first."""
        pieces = np.split(mine, split_bounds[1:-1], axis=1)
        outgoing = np.concatenate([piece.ravel() for piece in pieces])
        depth = pieces[self.comm.rank].shape[1]
        incoming = np.empty((stack_bounds[-1], depth), mine.dtype)
        received = [depth * extent for extent in np.diff(stack_bounds)]
        self.comm.Alltoallv([outgoing, [piece.size for piece in pieces], MPI.C_FLOAT_COMPLEX],
                            [incoming, received, MPI.C_FLOAT_COMPLEX])
        return np.ascontiguousarray(incoming.T)


def even_bounds(extent, parts):
    """Bounds of `parts` consecutive ranges that cover `extent` as evenly as can be."""
    return [extent * part // parts for part in range(parts + 1)]


def plan_of(length, direction):
    """FFTW's plan for a batch of lines. A plan that is estimated is the same in each run, one that
    is measured is not; FFTW_UNALIGNED, since arrays are given anew for each batch."""
    lines = [np.empty((BATCH, length), np.complex64) for _ in range(2)]
    return pyfftw.FFTW(*lines, axes=(1,), direction=f"FFTW_{direction}",
                       flags=("FFTW_ESTIMATE", "FFTW_UNALIGNED"))
