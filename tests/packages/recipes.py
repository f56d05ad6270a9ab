"""The recipes of containers, carried out: their lines run in a new Debian, as Docker and Apptainer
would run them. What a line may say is what the two files in packaging/containers need."""
import re
import shlex
import shutil
from pathlib import Path

from common import ROOT, copy_of_sources
from debian import System, new_system

CONTAINERS = ROOT / "packaging" / "containers"


def lines_of(text):
    """Logical lines, without comments; a backslash at the end goes on with the next."""
    text = re.sub(r"^\s*#.*\n", "", text, flags=re.MULTILINE)
    return [line for line in text.replace("\\\n", " ").splitlines() if line.strip()]


class Stage:
    """One FROM of a Dockerfile, and what the lines below it made."""
    def __init__(self, folder, source):
        assert source == "debian:12", f"no image {source} here"
        folder.mkdir()
        self.system = new_system(folder)

    def copy(self, words, context, stages):
        """COPY SOURCE TARGET, of the folder that Docker is given, or COPY --from=STAGE."""
        origin = context
        if words[0].startswith("--from="):
            origin = stages[words.pop(0).removeprefix("--from=")].system.folder
        source, target = words
        shutil.copytree(origin / source.lstrip("/"), self.system.folder / target.strip("/"),
                        symlinks=True, dirs_exist_ok=True)


def docker(folder, seen=lambda stages: None):
    """The last stage of the Dockerfile; `seen` gets all of them before they are forgotten."""
    context = copy_of_sources(folder / "context")
    stages, stage = {}, None
    for line in lines_of((CONTAINERS / "Dockerfile").read_text()):
        word, rest = line.split(maxsplit=1)
        if word == "FROM":
            source, *name = re.split(r"\s+AS\s+", rest)
            stage = Stage(folder / f"stage-{len(stages)}", source.strip())
            stages[name[0] if name else str(len(stages))] = stage
        elif word == "RUN":
            stage.system.run(rest)
        elif word == "COPY":
            stage.copy(shlex.split(rest), context, stages)
        elif word == "ENV":
            stage.system.environment.update(pair.split("=", 1) for pair in shlex.split(rest))
        else:
            raise AssertionError(f"Dockerfile: what does {word} do?")
    seen(stages)
    return stage.system


def sections_of(text):
    """%name -> its lines, and the header of an Apptainer definition as its first part."""
    head, *parts = re.split(r"^%(\w+)[^\n]*\n", text, flags=re.MULTILINE)
    header = dict(line.split(": ", 1) for line in lines_of(head))
    return header, dict(zip(parts[::2], parts[1::2]))


def apptainer(folder) -> System:
    """What %files, %post and %test of the definition make of the image that it names."""
    header, sections = sections_of((CONTAINERS / "sluice.def").read_text())
    assert header == {"Bootstrap": "docker", "From": "debian:12"}, header
    unknown = set(sections) - {"files", "post", "test", "environment", "runscript"}
    assert not unknown, unknown
    system = new_system(folder)
    for line in lines_of(sections.get("files", "")):
        source, target = shlex.split(line)
        assert source == ".", source
        copy_of_sources(system.folder / Path(target.lstrip("/")))
    system.run("sh", "-ec", sections["post"])
    system.run("sh", "-ec", sections.get("environment", "") + "\n" + sections["test"])
    return system
