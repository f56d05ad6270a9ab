"""The cases of run.py: what is started, with what settings, and what must be printed."""
import re

import job_cases
import keeper_cases
import network_cases
import run as runner
from case import BY_MPI, BY_SLUICE, Case, exactly, once

COUNTED = ("counted: init {0}, finalize {0}, open {0}, close {0}, set_view {0}, "
           "write_all {1}, iwrite_all {1}").format


def cases_of_errors():
    """The limit of the size of a rank's files lies inside of what it writes, three times."""
    cause = r"of \d+ bytes at offset \d+: File too large \(EFBIG\)"
    def refused(how, said, rank=2, title="", **settings):
        line = rf"rank {rank} on \S+: \S+/file: {said}: pwritev? {cause}"
        return Case(f"a write that the system refuses: {how}{title}", "refused.c",
                    [BY_SLUICE, exactly(3, line, "EFBIG")], f"{{program}} {how} {{path}}",
                    settings=settings)

    collective = r"operation \d+ \(collective write of 1048576 bytes\)"
    yield refused("blocking", collective)
    yield refused("nonblocking", collective)
    yield refused("independent", "independent write")
    two_phase = "romio_cb_write=enable;cb_nodes=1"
    yield refused("two-phase", collective, 0, SLUICE_HINTS=two_phase)
    yield refused("two-phase", collective, 0, ", two nodes", SLUICE_HINTS=two_phase,
                  SLUICE_TEST="ranks_per_node=2")


def cases_of_tools():
    chain = {"SLUICE": "chain"}
    disabled = "{program} {path} {path} sluice disable"
    return [
        Case("tool alone", "files.c", [BY_MPI, COUNTED(1, 1)], preload=("counter.c",)),
        Case("tool before Sluice: sees all, the MPI serves", "files.c",
             [BY_MPI, COUNTED(1, 1)], preload=("counter.c", "sluice")),
        Case("tool behind Sluice: sees nothing", "files.c", [BY_SLUICE, COUNTED(0, 0)],
             preload=("run", "counter.c")),
        Case("tool behind Sluice, chained", "files.c", [BY_SLUICE, COUNTED(1, 0)],
             preload=("run", "counter.c"), settings=chain),
        Case("tool behind Sluice, chained, file left to the MPI", "files.c",
             [BY_MPI, COUNTED(1, 1)], disabled, ("run", "counter.c"), chain),
    ]


def passed_by(names, by):
    """What Sluice says of functions that are defined before it."""
    return [rf"^sluice: {names}: defined before Sluice by {by}\. Such calls", BY_MPI]


def cases_of_wrappers():
    """Programs and tools that define functions of MPI and go on to their PMPI_ names."""
    itself = "the program itself"
    for name, *wrapped in (
            ("MPI_Wait", "-DWRAP_WAIT"), ("MPI_Waitall", "-DWRAP_WAITALL"),
            ("MPI_File_set_view", "-DWRAP_SET_VIEW"), ("MPI_Init", "-DWRAP_INIT"),
            ("MPI_Finalize", "-DWRAP_FINALIZE"), ("mpi_wait_", "-DWRAP_FORTRAN"),
            ("MPI_File_set_view, MPI_Wait", "-DWRAP_WAIT", "-DWRAP_SET_VIEW")):
        yield Case(f"a program that defines {name}", "wrapping.c", passed_by(name, itself),
                   defines=("-DPROGRAM", *wrapped))
    program = ("-DPROGRAM", "-DWRAP_SEND")
    yield Case("a program that defines MPI_Send", "wrapping.c", [BY_SLUICE], defines=program)
    yield Case("a program that defines MPI_Comm_dup, collectives", "wrapping.c",
               passed_by("MPI_Comm_dup", itself), defines=("-DPROGRAM", "-DWRAP_DUP"),
               settings={"SLUICE": "all"})
    chained = ("-DPROGRAM", "-DWRAP_CHAINED")
    yield Case("a program whose MPI_Wait is chained", "wrapping.c", passed_by("MPI_Wait", itself),
               defines=chained)
    yield Case("a program whose MPI_Wait is chained, and says so", "wrapping.c", [BY_SLUICE],
               settings={"SLUICE": "chain"}, defines=chained)
    yield Case("a program that takes the address of MPI_Wait", "wrapping.c", [BY_SLUICE],
               defines=("-DPROGRAM", "-DTAKE_ADDRESS", "-fno-pie", "-no-pie"))
    yield Case("a tool that wraps MPI_Wait, before Sluice", "files.c",
               passed_by("MPI_Wait", r"\S*/wait_tool\.so"), preload=("wait_tool", "sluice"))
    yield Case("a tool that wraps MPI_Wait, whose address is taken", "wrapping.c",
               passed_by("MPI_Wait", r"\S*/wait_tool\.so"), preload=("wait_tool", "sluice"),
               defines=("-DPROGRAM", "-DTAKE_ADDRESS", "-fno-pie", "-no-pie"))
    yield Case("a tool that wraps MPI_Wait, behind Sluice", "files.c", [BY_SLUICE],
               preload=("run", "wait_tool"))


def cases_of_other_writes(mpi):
    """Writes beside an outstanding operation, of other bytes."""
    ways = ["write_at", "write", "write_shared", "write_ordered", "write_ordered_begin",
            "iwrite_shared", "disabled"]
    for ranks in (1, 2):
        for way in ways if mpi == "mpich" else ways[::3]:
            yield Case(f"blocks by {way}, {ranks} ranks", "sieve.c", [f"{way}: 0 blocks lost"],
                       f"{{program}} {{path}} {way} 12", ranks=ranks)


    # Its default component does so only with more ranks.
    component = {"OMPI_MCA_fcoll": "vulcan"} if mpi == "openmpi" else {}
    for way, hint in (("write_ordered", ""), ("write_ordered", "romio_cb_write enable"),
                      *([("write_at_all", "sluice disable")] if mpi == "openmpi" else [])):
        yield Case(f"bytes between the blocks, {way} {hint}", "fetches.c",
                   [f"{way}: 0 ranks fetched"], f"{{program}} {{path}} {way} {hint}", ranks=2,
                   settings=component)


def cases_of_pointers():
    for way in ("write", "mixed", "read", "read mixed"):
        yield Case(f"four threads move a file's pointer, {way}", "pointer.c",
                   [f"{way}: 0 values missing, 80000 bytes, position 80000"],
                   f'{{program}} {{path}} "{way}"', ranks=1)


def cases_of_romio_hints():
    """ROMIO's file of hints, which only the first rank sees: what holds on all."""
    lines = ("# a comment;cb_nodes 1;cb_buffer_size 8192;romio_cb_write enable;"
             "  romio_cb_read   disable ;cb_config_list *:1;"
             "striping_unit 8192;striping_factor 3;sluice_domains cyclic;sluice_close durable;"
             "cb_nodes 2;one_word;three words here;unknown value")
    values = {"cb_nodes": 1, "cb_buffer_size": 8192, "romio_cb_write": "enable",
              "romio_cb_read": "disable", "cb_config_list": "*:1", "striping_unit": 8192,
              "striping_factor": 3, "sluice_domains": "cyclic", "sluice_close": "durable"}

    def case(name, text, given, *expected, settings=None):
        return Case(f"ROMIO_HINTS: {name}", "romio_hints.c", [*expected],
                    f'{{program}} {{path}} "{text}" {given}', ranks=2, settings=settings or {})

    def held(**others):
        return [rf"rank {rank}: {re.escape(hint)}={re.escape(str(value))}$"
                for rank in range(2) for hint, value in {**values, **others}.items()]

    yield case("each hint", lines, "", *held(), BY_SLUICE,
               "plan: write two-phase: a hint.* 1 aggregators, windows of 8192")
    yield case("the program's win", lines, "cb_nodes 2 romio_cb_read enable", BY_SLUICE,
               *held(cb_nodes=2, romio_cb_read="enable"))
    yield case("those of SLUICE_HINTS win", lines, "", BY_SLUICE, *held(cb_buffer_size=16384),
               settings={"SLUICE_HINTS": "cb_buffer_size=16384"})
    yield case("sluice disable", "sluice disable", "", BY_MPI)
    yield case("nonsense", "sluice_domains many", "", "rank 1: sluice_domains=auto",
               r"^sluice: file of hints \(\$ROMIO_HINTS or /etc/romio-hints\): "
               "sluice_domains=many is not understood", BY_SLUICE)
    yield case("romio_no_indep_rw", "romio_no_indep_rw true", "romio_cb_read disable",
               "rank 1: romio_cb_write=enable", "rank 1: romio_cb_read=enable", BY_SLUICE)
    # Libraries lay their files out after the stripes: no other ones than the MPI says.
    no_stripes = [rf"rank 1: {name}=(0|not there)$"
                  for name in ("striping_unit", "striping_factor")]
    for none in ("missing", "folder", "", "one_word"):
        yield case(f"no hints ({none or 'empty'})", none, "", "rank 1: cb_buffer_size=1048576",
                   *no_stripes, BY_SLUICE)


def cases_of_files(mpi):
    # Open MPI's own file component does not know such names.
    prefix = [BY_SLUICE] if mpi == "mpich" else ["failed: MPI_File_open"]
    return [
        Case("a file", "files.c", [BY_SLUICE]),
        Case("name with a driver", "files.c", prefix, "{program} {path} ufs:{path}",
             fails=mpi == "openmpi"),
        Case("a colon in the folder's or file's name", "files.c", [BY_SLUICE],
             "{program} {path}:b {path}:b"),
        Case("hint sluice=disable", "files.c", [BY_MPI], "{program} {path} {path} sluice disable"),
        Case("SLUICE=off", "files.c", [BY_MPI], preload=("sluice",), settings={"SLUICE": "off"}),
        Case("SLUICE=off, sluice run", "files.c", [BY_MPI], settings={"SLUICE": "off"}),
    ]


def cases_of_file_systems():
    """What is the same on all nodes only after a close, and what only a close tells of."""
    nfs, fuse = "0x6969", "0x65735546"
    preload, nodes = ("run", "file_system.c"), {"SLUICE_TEST": "ranks_per_node=2"}
    yield Case("a file on NFS, one node", "files.c", [BY_SLUICE], preload=preload,
               settings={"FILE_SYSTEM": nfs})
    yield Case("a file on NFS, two nodes", "files.c",
               [BY_MPI, once("ranks of several nodes open a file on NFS, SMB or AFS to write")],
               preload=preload, settings={"FILE_SYSTEM": nfs, **nodes})
    line = (r"rank 2 on \S+: \S+/file: closing the file: close: No space left on device "
            r"\(ENOSPC\)")

    def refused(name, said, **given):
        return Case(f"only the system's close tells of an error: {name}", "late_errors.c",
                    [BY_SLUICE, exactly(1, line, "ENOSPC"), said], "{program} {path}",
                    preload=preload, settings={"CLOSE_FAILS": "2", **given})

    all_ranks = "MPI_File_close told 3 of 3 ranks"
    behind = {"SLUICE_WRITE_BEHIND": "16M"}
    yield refused("FUSE", all_ranks, FILE_SYSTEM=fuse)
    yield refused("FUSE, two nodes", all_ranks, FILE_SYSTEM=fuse, **nodes)
    yield refused("NFS", all_ranks, FILE_SYSTEM=nfs)
    yield refused("one that is local", "MPI_File_close told 1 of 3 ranks")
    yield refused("FUSE, write-behind", all_ranks, FILE_SYSTEM=fuse, **behind)
    yield refused("FUSE, direct I/O", all_ranks, FILE_SYSTEM=fuse,
                  SLUICE_HINTS="sluice_page_cache=direct")
    # The MPI closes its file before Sluice does.
    yield refused("a close that waits for nothing", "MPI_Finalize told rank 2", CLOSE_NUMBER="2",
                  SLUICE_HINTS="sluice_close=behind", **behind)


def cases_of_coverage():
    for ranks in (1, 2, 3, 8):
        yield Case(f"what covers its span is proved, on {ranks} ranks", "covered.c",
                   ["covered: only what is"], "{program} {path}", ranks=ranks)


def cases_of_flushes():
    for way in ("write_at", "write_at_all"):
        yield Case(f"durable when it is closed, {way}", "durable.c", [f"durable: {BY_SLUICE}"],
                   f"{{program}} {{path}} {way}", ranks=2)


def cases_of_atomic_mode():
    """Pieces that are sieved, and pieces that are not."""
    both = {"SLUICE_WRITE_BEHIND": "16M", "SLUICE_HINTS": "sluice_read_ahead=16M"}
    for way, ints, name, given in (("read", 1, "", {}), ("read", 20000, "", {}),
                                   ("iread", 1, "", {}), ("read", 1, ", behind and ahead", both)):
        yield Case(f"atomic {way}, pieces of {ints}{name}", "atomic.c",
                   [BY_SLUICE, "^0 reads are torn"], f"{{program}} {way} {ints} {{path}}",
                   settings=given)


def cases_of_the_end():
    """In the delete functions of MPI_COMM_SELF files work as before, and HDF5 closes its there."""
    settings = {"behind": {"SLUICE_WRITE_BEHIND": "16M"},
                "statistics, trace and log": {"SLUICE_LOG": "2", "SLUICE_TRACE": "{path}.json",
                                              "SLUICE_RECORD": "{path}.record"},
                "two nodes": {"SLUICE_TEST": "ranks_per_node=2"},
                "no helper": {"SLUICE_TEST": "helper=off"}}
    for way in ("deleted", "left"):
        for name, given in ("", {}), *settings.items():
            yield Case(f"a file {way} at MPI_Finalize, {name}".rstrip(", "), "finalize.c",
                       [BY_SLUICE, "all pieces are there"], f"{{program}} {way} {{path}}",
                       settings=given)


def cases_of_closed_files():
    """What a close has not waited for is in the file, or was told, when MPI_Finalize returns."""
    run = 'sh -c "mkdir -p {{path}}.journals; exec {{sluice}} run {{program}} {} {{path}}"'.format
    for name, behind in (("in memory", "16M"), ("in a folder", "16M,{path}.journals")):
        given = {"SLUICE_WRITE_BEHIND": behind, "SLUICE_HINTS": "sluice_close=behind",
                 "SLUICE_TEST": "behind=always;device=hdd"}
        for log in ("1", "2"):
            yield Case(f"a close that waits for nothing, {name}, SLUICE_LOG={log}", "finalize.c",
                       [BY_SLUICE, "all pieces are there"], run("closed"), preload=(),
                       settings={**given, "SLUICE_LOG": log})
        yield Case(f"an error behind such a close, {name}", "finalize.c",
                   [BY_SLUICE, "told by MPI_(Finalize|File_close)"], run("refused"), preload=(),
                   settings=given)


def cases_of_statistics():
    """What is waited for in the close belongs to what the program was blocked for. All independent
    calls are counted, also those that return before their bytes are in the file."""
    independent = "^  independent: 3 writes, 0 reads, 0.1 MiB$"
    yield Case("statistics of each kind of call", "finalize.c",
               ["2 operations .2 writes, 0 reads", independent,
                "^  stages, added up over operations that overlap, of the slowest rank: exchange"],
               "{program} deleted {path}", settings={"SLUICE_LOG": "2"})
    slow = {"SLUICE_LOG": "2", "SLUICE_WRITE_BEHIND": "16M",
            "SLUICE_TEST": "behind=always;device=ssd"}
    yield Case("a close that waits for delayed writes", "finalize.c",
               ["of it in sync, close and the like, for earlier calls: 0[.]", independent],
               "{program} deleted {path}", settings=slow)


def cases_of_stalls():
    """Each rank that waits says whom for: once, though it waits for three times the seconds of the
    word `stall`."""
    elsewhere = "one or more of the 2 ranks of other nodes; none of this node is missing"
    for per_node, who in ((3, "rank 2, which has not called it"), (1, elsewhere)):
        said = (r"rank 0 made no progress for 1 s: MPI_File_write_at_all on \S+/file waits for "
                rf"{who} \[operation 0 ")
        yield Case(f"a rank comes late, {per_node} ranks per node", "stalled.c",
                   [BY_SLUICE, once(said)], "{program} 3 {path}",
                   settings={"SLUICE_TEST": f"stall=1;ranks_per_node={per_node}"})


def cases_of_refused_collectives():
    yield Case("a gather that is refused on one rank, which alone calls it", "alone.c",
               ["gather: refused"], "{program} gather", settings={"SLUICE": "all"})


def cases_of_threads():
    for ranks in (2, 3):
        yield Case(f"no threads are to be had, {ranks} ranks", "threadless.c",
                   ["threadless: served by sluice, threads were refused, 0 wrong bytes"],
                   "{program} {path}", ranks=ranks)


def cases_of_shared_memory():
    """While a slow device holds the staged bytes."""
    for ranks in (2, 4):
        yield Case(f"the memory of a node is crowded, {ranks} ranks", "crowded.c",
                   ["crowded: served by sluice, 0 wrong bytes"], "{program} {path}", ranks=ranks,
                   settings={"SLUICE": "all", "SLUICE_TEST": "device=ssd"})


def cases_of_limits():
    """The address space of a stream is 36 MiB with 2 ranks, 72 MiB with 4."""
    ours, either = [r"locked: (served by sluice|not tried)"], ["locked: (served by|not tried)"]
    for name, expected, how, ranks in (
            ("all memory is locked", ours, "all", 2), ("all memory is locked", ours, "all", 4),
            ("all memory is locked while a file is open", ours, "later", 4),
            ("locked memory is limited", either, "lock 30", 2),
            ("address space is limited", either, "space 30", 2),
            ("address space is limited, enough for a file", ours, "space 400", 4)):
        yield Case(f"{name}, {ranks} ranks", "locked.c", expected, f"{{program}} {{path}} {how}",
                   ranks=ranks)


def cases_of_held_files():
    """Names, limits and privileges change behind the open; and files that not all ranks hold."""
    def held(what, expected=BY_SLUICE, name="", **more):
        said = expected if isinstance(expected, list) else [expected]
        return Case(f"{what} after the open{name}", "held.c", said, f"{{program}} {what} {{path}}",
                    **more)

    for what in ("rename", "unlink", "delete", "limit"):
        yield held(what)
    yield held("privileges", f"{BY_SLUICE}|skipped: ")
    direct = {"SLUICE_HINTS": "sluice_page_cache=direct"}
    yield held("rename", name=", direct I/O", settings=direct)
    yield held("unlink", name=", direct I/O", settings=direct)
    yield held("rename", name=", two nodes", settings={"SLUICE_TEST": "ranks_per_node=2"})
    yield Case("a rank has no descriptor left for the file", "held.c",
               [BY_MPI, r"rank 2 on \S+ cannot open .*: Too many open files \(EMFILE\); the MPI"],
               "{program} few {path}", ("run", "behind.c"),
               {"SLUICE": "chain", "BEHIND": "limit"})
    yield Case("ranks that see different files", "held.c",
               [BY_MPI, "not the same file on all ranks; the MPI serves"],
               "{program} folders {path}")
    yield Case("another file takes the name before Sluice opens it", "held.c",
               [BY_MPI, "the name of the file that the MPI has opened; the MPI serves"],
               "{program} replaced {path}", ("run", "behind.c"),
               {"SLUICE": "chain", "BEHIND": "replace"})
    yield Case("locks of another job hold up no other file", "locks.c", ["the third file went on"],
               "{program} {path}", ranks=2)


def cases_of_links(mpi):
    """Programs that name the library themselves, before the MPI or behind it."""
    ours, theirs = runner.BUILD / mpi / "lib", runner.BUILD / "env" / mpi / "lib"
    here = [f"-L{ours}", f"-Wl,-rpath,{ours}", f"-L{theirs}", "-Wl,--no-as-needed"]
    behind = "^sluice: the program was linked with .*libmpi.so.* before Sluice, so its calls pass"
    yield Case("linked before the MPI", "files.c", [BY_SLUICE], preload=(),
               defines=(*here, "-lsluice"), called="linked_before")
    yield Case("linked behind the MPI", "files.c", [behind, BY_MPI], preload=(),
               defines=(*here, "-lmpi", "-lsluice"), called="linked_behind")
    yield Case("linked behind the MPI, started by sluice run", "files.c", [BY_SLUICE],
               defines=(*here, "-lmpi", "-lsluice"), called="linked_behind")


def changed_mpi(mpi, name, before, after):
    """Folders, the first of which has a copy of the MPI with other bytes."""
    theirs = runner.BUILD / "env" / mpi / "lib"
    library = next(theirs.glob("libmpi.so.[0-9]*"))
    folder = runner.BUILD / mpi / "tests" / "coexistence" / name
    folder.mkdir(parents=True, exist_ok=True)
    assert before in library.read_bytes()
    (folder / library.name).write_bytes(library.read_bytes().replace(before, after))
    return f"{folder}:{theirs}:{theirs / mpi}"


# Tried in every run: quick, and no other test finds what they find.
ALWAYS = ("an MPI that lacks a function", "another MPI", "ranks on nodes that cannot be seen")


def cases_of_versions(mpi):
    def case(name, folders, said):
        return Case(name, "files.c", [f"^sluice: {said}"],
                    f"env LD_LIBRARY_PATH={folders} {{program}} {{path}} {{path}}", fails=True)

    # Bound when it is first called, in the middle of a run. Others are missed by the loader.
    function = "PMPI_Type_get_contents" + ("_c" if mpi == "mpich" else "")
    symbol = f"\0{function}\0".encode()
    without = changed_mpi(mpi, "without", symbol, symbol.replace(b"PMPI", b"QMPI"))
    yield case("an MPI that lacks a function", without,
               f"built for .* that has {function}, which the MPI in this process has not")
    own, other = (b"MPICH ", b"OTHER ") if mpi == "mpich" else (b"Open MPI", b"Odd, MPI")
    yield case("another MPI", changed_mpi(mpi, "other", own, other),
               r"built for (MPICH|Open MPI), but the program uses another MPI \(\S+, O")


def all_cases(mpi):
    return [*job_cases.all_cases(mpi), *network_cases.all_cases(mpi),
            *keeper_cases.all_cases(mpi), *cases_of_tools(), *cases_of_wrappers(),
            *cases_of_links(mpi), *cases_of_errors(), *cases_of_other_writes(mpi),
            *cases_of_pointers(), *cases_of_romio_hints(), *cases_of_files(mpi),
            *cases_of_file_systems(), *cases_of_held_files(), *cases_of_coverage(),
            *cases_of_limits(), *cases_of_shared_memory(),
            *cases_of_atomic_mode(), *cases_of_the_end(),
            *cases_of_closed_files(), *cases_of_statistics(), *cases_of_stalls(),
            *cases_of_refused_collectives(), *cases_of_threads(), *cases_of_flushes(),
            *cases_of_versions(mpi)]
