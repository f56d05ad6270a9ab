"""The table of nonblocking calls that are waited for at once, from lines of `bench --mode nonblocking`."""

import statistics

NOTE = """`results/measure nonblocking`: block3d, page cache (tmpfs), 12 turns, each with a blocking and a nonblocking access of the same
bytes, in changing order. MiB/s: mean (least .. most). *Of means*: the nonblocking mean over the blocking one. Rows M5 and L5 of
[the papers](../study/README.md)."""


def rate(values):
    return f"{statistics.mean(values):.0f} ({min(values):.0f} .. {max(values):.0f})"


def tables(rows, table, size, mpi_of):
    found = {(mpi_of(row), row["side"], row["ranks"], row["bytes_per_rank"], row["direction"]): row
             for row in rows}
    drawn = [[f"{row['pattern']} {direction}", side.replace("peer", "MPI"), mpi, str(ranks), size(count),
              rate(row["blocking"]), rate(row["nonblocking"]), f"{row['ratio_of_means']:.3f}",
              f"{row['ratio']['median']:.3f}"]
             for (mpi, side, ranks, count, direction), row in sorted(found.items())]
    return table("Nonblocking calls that are waited for at once", NOTE,
                 ["what", "whose", "MPI", "ranks", "a rank", "blocking", "nonblocking", "of means", "in turn"],
                 drawn) if drawn else ""
