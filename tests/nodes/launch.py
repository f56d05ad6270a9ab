"""The words that start a program on hosts, by each MPI."""
import sys
from pathlib import Path

from hosts import NETWORK

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "mpi"))
from mpis import MPIS  # noqa: E402


NETWORK_BITS = f"{NETWORK}.0/24"
# What each MPI has to be told of hosts that are one machine.
SETTINGS = {
    # Without it MPICH finds shared memory between processes of two hosts.
    "mpich": {"UCX_TLS": "tcp,self", "UCX_NET_DEVICES": "eth0"},
    # Each host believes that it has all cores of the machine, so none sees that ranks share one and
    # should give way to each other: every step of its collective calls then takes milliseconds.
    "openmpi": {"mpi_yield_when_idle": "1", "btl_tcp_if_include": NETWORK_BITS, "pml": "ob1",
                "btl": "tcp,sm,self"},
}


def environment(mpi):
    """The settings as environment variables, for another launcher than the MPI's."""
    prefix = "OMPI_MCA_" if mpi == "openmpi" else ""
    return {prefix + name: value for name, value in SETTINGS[mpi].items()}


def options(mpi, option):
    return [word for name, value in SETTINGS[mpi].items() for word in (option, name, value)]


def mpich(hosts, ranks_per_host, ranks):
    return [MPIS["mpich"].mpiexec, "-launcher", "rsh", "-launcher-exec", hosts.agent, "-iface",
            "bridge0", "-hosts", ",".join(f"{at}:{ranks_per_host}" for at in hosts.addresses),
            *options("mpich", "-genv"), "-n", ranks]


def openmpi(hosts, ranks_per_host, ranks):
    return [MPIS["openmpi"].mpiexec, *options("openmpi", "--mca"), "-H",
            ",".join(f"{at}:{ranks_per_host}" for at in hosts.addresses),
            "--prtemca", "plm_ssh_agent", hosts.agent, "--prtemca", "prte_keep_fqdn_hostnames", "1",
            "--prtemca", "prte_if_include", NETWORK_BITS,
            "--map-by", f"ppr:{ranks_per_host}:node:oversubscribe", "-n", ranks]


LAUNCHERS = {"mpich": mpich, "openmpi": openmpi}


def command(mpi, hosts, ranks_per_host, program):
    """mpiexec's words for `program` on all hosts; {files} in it is the folder that all see."""
    ranks = ranks_per_host * len(hosts.addresses)
    words = LAUNCHERS[mpi](hosts, ranks_per_host, ranks)
    return [str(word).replace("{files}", str(hosts.files)) for word in (*words, *program)]
