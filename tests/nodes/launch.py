"""The words that start a program on hosts, by each MPI."""
import sys
from pathlib import Path

from hosts import NETWORK

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mpi"))
from mpis import MPIS  # noqa: E402


def mpich(hosts, ranks_per_host, ranks):
    # Without UCX_TLS it finds shared memory between processes that are on one real machine.
    return [MPIS["mpich"].mpiexec, "-launcher", "rsh", "-launcher-exec", hosts.agent, "-iface",
            "bridge0", "-hosts", ",".join(f"{at}:{ranks_per_host}" for at in hosts.addresses),
            "-genv", "UCX_TLS", "tcp,self", "-genv", "UCX_NET_DEVICES", "eth0", "-n", ranks]


def openmpi(hosts, ranks_per_host, ranks):
    network = f"{NETWORK}.0/24"
    # Each host believes that it has all cores of the machine, so none sees that ranks share one and
    # should give way to each other: every step of its collective calls then takes milliseconds.
    return [MPIS["openmpi"].mpiexec, "--mca", "mpi_yield_when_idle", "1", "-H",
            ",".join(f"{at}:{ranks_per_host}" for at in hosts.addresses),
            "--prtemca", "plm_ssh_agent", hosts.agent, "--prtemca", "prte_keep_fqdn_hostnames", "1",
            "--prtemca", "prte_if_include", network, "--mca", "btl_tcp_if_include", network,
            "--mca", "pml", "ob1", "--mca", "btl", "tcp,sm,self",
            "--map-by", f"ppr:{ranks_per_host}:node:oversubscribe", "-n", ranks]


LAUNCHERS = {"mpich": mpich, "openmpi": openmpi}


def command(mpi, hosts, ranks_per_host, program):
    """mpiexec's words for `program` on all hosts; {files} in it is the folder that all see."""
    ranks = ranks_per_host * len(hosts.addresses)
    words = LAUNCHERS[mpi](hosts, ranks_per_host, ranks)
    return [str(word).replace("{files}", str(hosts.files)) for word in (*words, *program)]
