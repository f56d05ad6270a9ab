"""A trace as an OTF2 archive, as Vampir and Score-P's tools read it.

Each row of a rank is a location. The messages of a rank are those of its first location, so that
viewers draw their lines between ranks.
"""
from __future__ import annotations

from pathlib import Path
from typing import Any

from sluice.timeline import Slice, Timeline

TICKS_A_SECOND = 10**9


def ticks(nanoseconds: int) -> int:
    """Archives count from 0."""
    return max(0, nanoseconds)


class Archive:
    """What is defined in an archive before its events."""

    def __init__(self, trace: Timeline, archive: Any, otf2: Any) -> None:
        self.trace, self.archive, self.otf2 = trace, archive, otf2
        self.regions: dict[tuple[str, str], Any] = {}
        self.locations: dict[tuple[int, int], Any] = {}
        root = archive.definitions.system_tree_node("job")
        hosts = {part["rank"]: part["host"] for part in trace.parts}
        nodes: dict[str, Any] = {}
        for rank in trace.ranks:
            host = hosts.get(rank, "host")
            if host not in nodes:
                nodes[host] = archive.definitions.system_tree_node(host, parent=root)
            group = archive.definitions.location_group(f"rank {rank}",
                                                       system_tree_parent=nodes[host])
            for (owner, row), name in sorted(trace.rows.items()):
                if owner == rank:
                    self.locations[rank, row] = archive.definitions.location(name, group=group)
        self.communicator = self.define_communicator()

    def first_row(self, rank: int) -> int:
        """The location that stands for the rank in messages."""
        return min(row for owner, row in self.locations if owner == rank)

    def define_communicator(self) -> Any:
        """Of all ranks that were recorded."""
        members = [self.locations[rank, self.first_row(rank)] for rank in self.trace.ranks]
        kinds, definitions = self.otf2.GroupType, self.archive.definitions
        definitions.group("locations", members=members, group_type=kinds.COMM_LOCATIONS,
                          paradigm=self.otf2.Paradigm.MPI)
        # Members of a group of ranks are numbers of locations in the group before.
        group = definitions.group("ranks", members=list(range(len(members))),
                                  group_type=kinds.COMM_GROUP, paradigm=self.otf2.Paradigm.MPI)
        return definitions.comm("world", group=group)

    def region(self, one: Slice) -> Any:
        """What a slice was, once for each name."""
        key = (one.category, one.name)
        if key not in self.regions:
            roles = {"call": self.otf2.RegionRole.FILE_IO,
                     "copy": self.otf2.RegionRole.DATA_TRANSFER}
            self.regions[key] = self.archive.definitions.region(
                one.name, source_file=one.category,
                region_role=roles.get(one.category, self.otf2.RegionRole.FUNCTION))
        return self.regions[key]


def moments(slices: list[Slice]) -> list[tuple[int, bool, Slice]]:
    """Begins and ends in their order. Slices of a row nest, outer ones first."""
    found: list[tuple[int, bool, Slice]] = []
    is_open: list[Slice] = []
    for one in slices:
        while is_open and is_open[-1].end <= one.begin:
            last = is_open.pop()
            found.append((ticks(last.end), False, last))
        found.append((ticks(one.begin), True, one))
        is_open.append(one)
    found += [(ticks(one.end), False, one) for one in reversed(is_open)]
    return found


def message_events(archive: Archive, rank: int) -> list[tuple[int, Slice]]:
    """When a rank sent and received, among ranks that were recorded."""
    return [(ticks(one.begin if one.name == "send" else one.end), one)
            for one in archive.trace.by_rank("message")[rank]
            if one.arguments.get("peer") in archive.trace.ranks]


def write_location(archive: Archive, rank: int, row: int, slices: list[Slice]) -> None:
    """All events of a location, in the order of time, which never goes back."""
    order = [(at, 0, "enter" if begins else "leave", one) for at, begins, one in moments(slices)]
    if row == archive.first_row(rank):
        order += [(at, 1, one.name, one) for at, one in message_events(archive, rank)]
        order.sort(key=lambda event: event[0])
    writer = archive.archive.event_writer_from_location(archive.locations[rank, row])
    places = {known: place for place, known in enumerate(archive.trace.ranks)}
    for at, _, what, one in order:
        if what == "enter":
            writer.enter(at, archive.region(one))
        elif what == "leave":
            writer.leave(at, archive.region(one))
        else:
            tell = writer.mpi_send if what == "send" else writer.mpi_recv
            tell(at, places[one.arguments["peer"]], archive.communicator, 0,
                 max(one.arguments.get("bytes", 0), 0))


def write(trace: Timeline, folder: Path) -> None:
    """Makes the archive in a folder that is not there yet."""
    try:
        import otf2
    except ImportError as error:
        raise ImportError(f"{error}: install it with `pip install otf2`") from error
    if folder.exists():
        raise FileExistsError(f"{folder} is there already")
    rows: dict[tuple[int, int], list[Slice]] = {key: [] for key in trace.rows}
    for one in trace.slices:
        rows[one.rank, one.row].append(one)
    with otf2.writer.open(str(folder), timer_resolution=TICKS_A_SECOND) as opened:
        archive = Archive(trace, opened, otf2)
        for (rank, row), slices in sorted(rows.items()):
            write_location(archive, rank, row, slices)
