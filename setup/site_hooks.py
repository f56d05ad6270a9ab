"""What mkdocs asks when it makes the documentation site (mkdocs.yml).

Documents link to files beside docs/, as CONTRIBUTING.md or an example, by their place in the
repository. The site has no such place: each file that is linked to becomes a page or a file of
the site, and the links lead there. The tables of results, which are not in the repository, come
from build/pages. What a page would fetch from elsewhere is a warning, and so an
error of `make site`.
"""
import logging
import pathlib
import posixpath
import re

from mkdocs.structure.files import File

ROOT = pathlib.Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
TABLES = ROOT / "build" / "pages"  # What `results/table --pages` wrote.
LINK = re.compile(r"\]\((?![a-z]+:)([^)#\s]+)((?:#[^)]*)?)\)")
FETCHED = re.compile(r'<(?:script|img|iframe|link)[^>]*\b(?:src|href)="(https?://[^"]*)"')
PAGES = ("CONTRIBUTING.md", "CHANGELOG.md")  # Of the repository's root, with a place in the menu.


def source_of(uri):
    """Where the file of the site comes from: pages of docs/, tables, others from the root."""
    found = [folder / uri for folder in (DOCS, TABLES) if (folder / uri).exists()]
    return found[0] if found else ROOT / uri


def uri_of(path):
    """The other way round."""
    folder = next(one for one in (DOCS, TABLES, ROOT) if path.is_relative_to(one))
    return path.relative_to(folder).as_posix()


def links_of(path):
    """The files of the repository that a document names."""
    for target, _ in LINK.findall(path.read_text()):
        file = (path.parent / target).resolve()
        if file.is_file() and file.is_relative_to(ROOT):
            yield file


def on_files(files, config):
    """Adds the files outside of docs/ that documents link to."""
    documents = [*DOCS.rglob("*.md"), *(ROOT / "study").rglob("*.md"),
                 *(ROOT / name for name in PAGES)]
    linked = {file for document in documents for file in links_of(document)}
    linked.update(ROOT / name for name in PAGES)
    for file in sorted(linked):
        if not file.is_relative_to(DOCS):
            files.append(File.generated(config, uri_of(file), abs_src_path=str(file)))
    for file in sorted(TABLES.rglob("*.*")):
        uri = file.relative_to(TABLES).as_posix()
        if not (DOCS / uri).exists():
            files.append(File.generated(config, uri, abs_src_path=str(file)))
    return files


def on_page_markdown(markdown, page, **_):
    """Links by places in the site in place of those in the repository. The first page has no menu
    at its side, since nothing is beside it."""
    if page.is_homepage:
        page.meta["hide"] = ["navigation"]
    here = source_of(page.file.src_uri)

    def moved(match):
        file = (here.parent / match[1]).resolve()
        if not file.is_file() or not file.is_relative_to(ROOT):
            return match[0]
        place = posixpath.relpath(uri_of(file), posixpath.dirname(page.file.src_uri) or ".")
        return f"]({place}{match[2]})"

    return LINK.sub(moved, markdown)


def on_post_page(output, page, **_):
    for address in FETCHED.findall(output):
        logging.getLogger("mkdocs.hooks").warning("%s fetches %s", page.file.src_uri, address)
    return output
