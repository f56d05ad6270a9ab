"""Cases of run.py in which messages go over libfabric, or ranks are lost."""
import fcntl
import re
import socket
import struct

from case import BY_SLUICE, Case, once

SIOCGIFFLAGS, SIOCGIFADDR = 0x8913, 0x8915
IFF_UP = 1


def cases_of_networks(mpi):
    """Over libfabric a program on several nodes keeps its level, and hears of a rank that died."""
    single = {"LEVEL": "0", "SLUICE_TEST": "ranks_per_node=1"}
    for network in ("fabric:tcp", "fabric:tcp;ofi_rxm"):
        yield Case(f"messages over {network}, thread level 0", "files.c",
                   [r"(?s)\A(?!.*thread level: multiple).*" + BY_SLUICE],
                   settings={**single, "SLUICE_NETWORK": network})
        yield lost_rank("connections", mpi, [0, 1],
                        r"rank 2 on \S+ cannot be reached over the fabric any more",
                        SLUICE_TEST="ranks_per_node=1", SLUICE_NETWORK=network)
    yield Case("messages over the MPI: the level is raised", "files.c",
               [BY_SLUICE, "thread level: multiple"], settings={**single, "SLUICE_NETWORK": "mpi"})
    yield Case("an unknown provider of libfabric", "files.c",
               [BY_SLUICE, once("no provider none of libfabric can be used")],
               settings={**single, "SLUICE_NETWORK": "fabric:none"})


def addresses_of_machine():
    """[(network interface that is up, its address of IPv4)], but for the loopback."""
    found = []
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as asked:
        for _, name in socket.if_nameindex():
            named = struct.pack("256s", name.encode())
            try:
                flags, = struct.unpack_from("H", fcntl.ioctl(asked, SIOCGIFFLAGS, named), 16)
                address = socket.inet_ntoa(fcntl.ioctl(asked, SIOCGIFADDR, named)[20:24])
            except OSError:  # It has none.
                continue
            if flags & IFF_UP and not address.startswith("127."):
                found.append((name, address))
    return found


def cases_of_interfaces():
    """The provider's own variables hold: which network interface, and which ports. Where the user
    says nothing, it is one that may lead to other hosts."""
    others = addresses_of_machine()
    ports = {"FI_TCP_PORT_LOW_RANGE": "23400", "FI_TCP_PORT_HIGH_RANGE": "23499"}
    for provider in ("tcp", "tcp;ofi_rxm"):
        settings = {"SLUICE_TEST": "ranks_per_node=1", "SLUICE_NETWORK": f"fabric:{provider}",
                    "SLUICE_LOG": "3"}
        listens = f"messages between nodes go over libfabric: {provider}, "
        for name, address in [("lo", "127.0.0.1"), *others[:1]]:
            yield Case(f"ports that the user names, on {name}, {provider}", "files.c",
                       [BY_SLUICE, once(rf"{listens}{name}, {re.escape(address)}, port 234\d\d\n")],
                       settings={**settings, **ports, "FI_TCP_IFACE": name})
        yield Case(f"another process listens on the port first, {provider}", "files.c",
                   [BY_SLUICE, once(rf"{listens}lo, 127\.0\.0\.1, port 234\d\d\n")],
                   preload=("run", "taken_port.c"),
                   settings={**settings, **ports, "FI_TCP_IFACE": "lo"})
        if others:
            yield Case(f"the user names no network interface, {provider}", "files.c",
                       [BY_SLUICE, once(rf"{listens}(?!lo,)\S+ \S+, port (?!234\d\d\n)\d+\n")],
                       settings=settings)


def lost_rank(how, mpi, others, said, ranks=3, **settings):
    """Each of the others has an error in time. A rank that ends without MPI_Finalize is an error
    for Open MPI; MPICH may end the job before it hears of one."""
    return Case(f"a rank is lost: {how}, {settings}", "lost.c",
                [f"lost: rank {rank} by sluice, an error in round 4 in time" for rank in others]
                + [said], f"{{program}} {how} {{path}}", ranks=ranks,
                fails=True if mpi == "openmpi" else None,
                settings=settings)


def cases_of_killed_ranks(mpi):
    """On one node, and with one more, whose ranks are told."""
    said = "the process of rank 3 of 4, on this node, has ended: operations on files"
    for per_node in ("0", "2"):
        yield lost_rank("killed", mpi, [0, 1, 2], said, ranks=4,
                        SLUICE_TEST=f"ranks_per_node={per_node}")
    yield lost_rank("killed", mpi, [0, 1, 2],
                    r"rank 3 on \S+ cannot be reached over the fabric any more", ranks=4,
                    SLUICE_TEST="ranks_per_node=1")


def all_cases(mpi):
    return [*cases_of_networks(mpi), *cases_of_interfaces(), *cases_of_killed_ranks(mpi)]
