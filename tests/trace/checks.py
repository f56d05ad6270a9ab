"""What must hold of every trace, whatever was recorded: the faults that are found in one."""
import json
import sys
from collections import Counter, defaultdict
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "python"))
from sluice import timeline  # noqa: E402

PHASES = {"X", "M", "C", "s", "f"}
NEEDED = {"X": {"pid", "tid", "ts", "dur", "name", "cat"}, "M": {"pid", "name", "args"},
          "C": {"pid", "ts", "name", "args"}, "s": {"pid", "tid", "ts", "id", "name", "cat"},
          "f": {"pid", "tid", "ts", "id", "name", "cat", "bp"}}


def faults_of_form(path):
    """As the Trace Event Format has it; read by a parser of JSON that knows nothing of Sluice."""
    events = json.loads(path.read_text())["traceEvents"]
    faults = []
    for event in events:
        if event["ph"] not in PHASES:
            faults.append(f"a phase {event['ph']}")
        elif missing := NEEDED[event["ph"]] - event.keys():
            faults.append(f"{event} lacks {missing}")
        elif event["ph"] == "X" and event["dur"] < 0:
            faults.append(f"{event} ends before it begins")
    named = {(event["pid"], event.get("tid")) for event in events
             if event["ph"] == "M" and event["name"] in ("thread_name", "process_name")}
    used = {(event["pid"], event["tid"]) for event in events if event["ph"] in "Xsf"}
    faults += [f"{row} has no name" for row in used - named]
    return faults


def faults_of_nesting(trace):
    """In a row events nest: a viewer would draw others wrongly."""
    faults, is_open = [], defaultdict(list)
    for one in sorted(trace.slices, key=lambda one: (one.begin, -one.end)):
        stack = is_open[one.rank, one.row]
        while stack and stack[-1].end <= one.begin:
            stack.pop()
        if stack and one.end > stack[-1].end:
            faults.append(f"{one} and {stack[-1]} cross")
        stack.append(one)
    return faults


def faults_of_arrows(trace):
    """Each message that left arrives once, at the rank that it was sent to, and not before."""
    faults, ends = [], defaultdict(dict)
    for event in trace.others:
        if event["ph"] not in "sf":
            continue
        if event["ph"] in ends[event["id"]]:
            faults.append(f"two arrows are called {event['id']}")
        ends[event["id"]][event["ph"]] = event
    within = {(one.rank, one.row, one.begin if one.name == "send" else one.end - 1): one
              for one in trace.slices if one.category == "message"}
    for name, pair in ends.items():
        if pair.keys() != {"s", "f"}:
            faults.append(f"arrow {name} has no other end: {pair}")
            continue
        sent, got = (within.get((end["pid"] - 1, end["tid"], timeline.nanoseconds(end["ts"])))
                     for end in (pair["s"], pair["f"]))
        if not sent or not got:
            faults.append(f"arrow {name} begins or ends at no message")
        elif (sent.rank, got.rank) != (got.arguments["peer"], sent.arguments["peer"]):
            faults.append(f"arrow {name} goes from {sent} to {got}")
        elif sent.operation != got.operation or got.end < sent.begin:
            faults.append(f"arrow {name}: {sent} and {got} are not one message")
    return faults


def faults_of_operations(trace, ranks):
    """All ranks take part in each collective operation, and its stages fill it."""
    faults = []
    for one in timeline.operations(trace):
        counts = Counter(whole.rank for whole in one.whole)
        if counts != Counter(ranks):
            faults.append(f"operation {one.number}: ranks {dict(counts)}")
        for whole in one.whole:
            stages = sum(one.stages(whole.rank).values())
            if abs(stages - whole.seconds) > 1e-6:
                faults.append(f"operation {one.number}: {stages} s of {whole.seconds} s are stages")
    return faults


def faults_of_counts(trace):
    """What is counted is nothing at the end."""
    last = {}
    for event in trace.others:
        if event["ph"] == "C":
            last[event["pid"], event["name"]] = event["args"]["value"]
    return [f"{name} ends at {value}" for name, value in last.items() if value != 0]


def faults_of(path, ranks, is_whole=True):
    """All of the above. `is_whole`: no event is lost, and no rank was killed."""
    trace = timeline.read(path)
    faults = faults_of_form(path) + faults_of_nesting(trace)
    if trace.ranks != ranks:
        faults.append(f"ranks {trace.ranks}, {ranks} expected")
    if is_whole:
        faults += faults_of_arrows(trace) + faults_of_operations(trace, ranks)
        faults += faults_of_counts(trace)
    return faults, trace
