"""The settings that a batch of random programs draws."""
import random

# One of each is drawn, as it may stand on the command line, where {folder} is that of the
# MPI's build. A batch has few settings: what often stands there is nothing.
RANKS = (1, 2, 2, 2, 2, 3, 3, 4, 4, 5, 8, 16)
WAYS = (
    # Views that Sluice alone knows have a shared file pointer on one node only.
    ("", "", "--ranks-per-node 1", "--ranks-per-node 2", "--ranks-per-node 3",
     "--word shared_memory=off", "--word local_aggregators=2",
     "--ranks-per-node 3 --word local_aggregators=4", "--word view_pieces=0",
     "--word view_pieces=64"),
    ("", "", "--behind 64K", "--behind 1M", "--behind 256M", "--behind 256K,{folder}"),
    ("", "", "--ahead 64K", "--ahead 256M"),
    ("", "", "--no-keeper"),
    ("",) * 11 + ("--slow",),
    ("",) * 7 + ("--far pretended",),
    ("", "", "--thread-level 1", "--thread-level 3"),
    ("", "", "--set SLUICE_NETWORK=fabric:tcp", "--set SLUICE_NETWORK=mpi"),
    ("", "", "", "--set SLUICE_MEMORY=64K", "--set SLUICE_MEMORY=2M"),
    ("", "", "", "--set SLUICE_STORAGE_THREADS=0", "--set SLUICE_STORAGE_THREADS=8"),
    ("", "", "", "--word cache=0", "--word cache=64K"),
    ("", "", "", "--hint sluice_page_cache=direct"),
    ("", "", "--hint sluice_close=behind", "--hint sluice_close=durable"),
    ("", "", "", "--hint cb_nodes=1", "--hint cb_nodes=3", "--hint sluice_aggregators=1,0"),
    ("", "", "", "--hint cb_buffer_size=4096", "--hint cb_buffer_size=16384"),
    ("", "", "--hint romio_cb_write=enable", "--hint romio_cb_write=disable"),
    ("", "", "--hint romio_cb_read=enable", "--hint romio_cb_read=disable"),
    ("", "", "", "--hint sluice_domains=cyclic --hint striping_unit=8192",
     "--hint sluice_domains=balanced", "--hint sluice_domains=groups"),
    ("", "", "", "--hint sluice_exchange=data:two-layer", "--hint sluice_exchange=one-layer",
     "--hint sluice_exchange=data:pairwise,metadata:spread-out,throttle:1",
     "--hint sluice_exchange=metadata:synchronous"),
    ("",) * 4 + ("--dir {folder}",),
)


def drawn(seed, sanitized=False):
    """(number of ranks, words of the command line). Sanitizers have to be preloaded first, and slow
    everything down: they get no pretended driver, and few ranks."""
    lots = random.Random(seed)
    ranks, ways = lots.choice(RANKS), list(map(lots.choice, WAYS))
    if sanitized:
        ranks = min(ranks, 4)
        ways = [way for way in ways if not way.startswith(("--far", "--slow"))]
    return ranks, " ".join(ways).split()
