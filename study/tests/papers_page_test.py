#!/usr/bin/env python3
"""The papers' page: no row is missing, it needs no network, and a measurement that was interrupted
goes on where it was. Without matplotlib (build/env/tools) the picture is not looked at."""
import html.parser
import importlib.util
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build" / "env" / "tools" / "bin" / "python"
sys.path[:0] = [str(ROOT / "results"), str(ROOT / "study" / "results")]
sys.dont_write_bytecode = True

import figures  # noqa: E402
import papers_page  # noqa: E402
import peers  # noqa: E402
import report_parts  # noqa: E402
import report_run  # noqa: E402
import rows  # noqa: E402
from data import lines, read_from  # noqa: E402

PAPERS = (ROOT / "study" / "results" / "papers.md").read_text()
FOLDER = f"{ROOT / 'results'}:{ROOT / 'study' / 'results'}"
RECORDED = figures.all_figures()
MOST = 2_000_000  # bytes
# Attributes whose values a browser fetches.
FETCHED = {"src", "href", "srcset", "data", "action", "poster", "background", "xlink:href"}


class Reader(html.parser.HTMLParser):
    """Texts of the table rows, and all that a browser would fetch or that is not closed."""

    def __init__(self, text):
        super().__init__()
        self.rows, self.fetched, self.tags, self.buttons = [], [], [], []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags.append(tag)
        self.fetched += [value for name, value in attributes if name in FETCHED]
        if tag == "tr" and dict(attributes).get("class"):
            self.rows.append([])
        if tag == "button":
            self.buttons.append([dict(attributes)["value"]])

    def handle_data(self, data):
        if self.rows:
            self.rows[-1].append(data)
        if self.buttons and len(self.buttons[-1]) == 1:
            self.buttons[-1].append(int(data))


def page(new=None):
    """Without pictures, from the recorded data."""
    return papers_page.page(rows.sections(PAPERS), peers.OF_ROWS, RECORDED, new or {}, lines, [],
                            "a machine" if new else "")


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.text = page()
        cls.reader = Reader(cls.text)

    def test_every_row_is_there_with_all_its_cells(self):
        wanted = re.findall(r"^\| ([A-Z]\d): ", PAPERS, re.MULTILINE)
        self.assertEqual(len(set(wanted)), 39)
        self.assertEqual([row[0] for row in self.reader.rows], wanted)
        self.assertEqual(self.text.count("<td data-label"), len(wanted) * len(papers_page.COLUMNS))

    def test_every_row_has_a_verdict_and_what_is_not_reproduced_a_reason(self):
        for section in rows.sections(PAPERS):
            for row in section.rows:
                self.assertIn(row.verdict, rows.VERDICTS.values())
                self.assertTrue(row.here and row.measured, row.name)
                if row.verdict != "reproduced":
                    self.assertTrue(row.reason, row.name)

    def test_what_is_partly_there_says_what_stands_in_the_way(self):
        ways = rows.obstacles(PAPERS)
        partly = {row.name for section in rows.sections(PAPERS) for row in section.rows
                  if row.verdict == "partly"}
        self.assertEqual(partly - set(ways), set())
        self.assertEqual(set(ways) - partly, set(), "rows that are not partly there")
        for name, said in ways.items():
            self.assertRegex(said, "Tried", name)

    def test_rows_say_where_they_were_measured(self):
        found = {row.name: row for section in rows.sections(PAPERS) for row in section.rows}
        self.assertEqual(found["M6"].files, ("outstanding-times",))
        self.assertEqual(found["L5"].files, found["M5"].files)
        self.assertEqual(found["N4"].files, ("nvm",))
        for row in found.values():
            if "{" in row.here:
                self.assertTrue(row.files, f"{row.name}: no command of rows.MEASURED")
            for file in row.files:
                self.assertTrue(lines(file), f"{row.name}: results/{file}.jsonl")

    def test_commands_are_those_of_results_measure(self):
        script = (ROOT / "results" / "measure").read_text()
        for name in [*rows.MEASURED, *(part.name for part in report_parts.QUICK + report_parts.FULL
                                       if part.command[0] == "results/measure")]:
            self.assertRegex(script, rf"(?m)^    {name}\)")

    def test_figures_are_filled(self):
        shown = re.sub("<(style|script)>.*?</\\1>", "", self.text, flags=re.DOTALL)
        self.assertEqual(figures.PLACE.findall(shown), [])
        self.assertFalse("(not measured)" in self.text)
        self.assertTrue(RECORDED["waited_mpich"] in self.text)

    def test_it_needs_no_network(self):
        self.assertEqual(self.reader.fetched, [])
        for tag in ("link", "img", "iframe", "base"):
            self.assertNotIn(tag, self.reader.tags)
        self.assertIsNone(re.search(r"@import|url\(|fetch\(|import\(|XMLHttpRequest", self.text))

    def test_counts_are_those_of_the_rows(self):
        counts = dict(self.reader.buttons)
        self.assertEqual(counts.pop("all"), 39)
        self.assertEqual(sum(counts.values()), 39)
        self.assertGreater(counts["reproduced"], 10)

    def test_a_new_run_stands_beside_the_recorded_one(self):
        text = page({"waited_mpich": "0.123", "waited": "0.456"})
        for words in ("<small>measured anew", "0.123", RECORDED["waited_mpich"]):
            self.assertTrue(words in text, words)
        self.assertFalse("<small>measured anew" in self.text)

    def test_a_run_that_measured_nothing_has_no_figures(self):
        with tempfile.TemporaryDirectory() as folder, read_from(folder):
            known = figures.figures_that_are_there()
        used = set(figures.PLACE.findall(PAPERS + " ".join(peers.OF_ROWS.values())))
        self.assertEqual(used & set(known), set())


class Script(unittest.TestCase):
    def look(self, path):
        """As a browser without a network has it: the filter hides what it should."""
        if not (browser := shutil.which("chromium")):
            return
        words = [browser, "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom"]
        with tempfile.TemporaryDirectory() as profile:
            shown = subprocess.run([*words, f"--user-data-dir={profile}", f"file://{path}#partly"],
                                   check=True, timeout=100, capture_output=True, text=True).stdout
        shown_rows = re.findall(r'<tr class="(\w+)"( hidden="")?>', shown)
        self.assertEqual(len(shown_rows), len(re.findall(r"^\| [A-Z]\d: ", PAPERS, re.MULTILINE)))
        for verdict, hidden in shown_rows:
            self.assertEqual(bool(hidden), verdict != "partly")

    def test_the_file_is_small_and_has_the_picture(self):
        with tempfile.TemporaryDirectory() as folder:
            out = pathlib.Path(folder) / "papers.html"
            python = TOOLS if TOOLS.exists() else sys.executable
            script = ROOT / "study" / "results" / "report"
            subprocess.run([python, "-B", script, "--out", out], check=True,
                           timeout=100, capture_output=True)
            text = out.read_text(encoding="utf-8")
            self.look(out)
        self.assertLess(len(text.encode()), MOST)
        self.assertEqual([value for value in Reader(text).fetched if value[0] != "#"], [])
        if importlib.util.find_spec("matplotlib") or TOOLS.exists():
            drawing = text[text.index("<svg"):text.index("</svg>")]
            for words in ("the MPI, blocking calls", "the MPI in a helper thread",
                          "Sluice, nonblocking", "write-behind", "seconds", "MPICH"):
                self.assertTrue(words in drawing, words)


PARTS = """
import pathlib, sys
sys.path[:0] = sys.argv[1].split(":")
import report_run
from report_parts import Part
def part(name, command):
    script = f"echo '{{}}' >> $RESULTS/{name}.jsonl; {command}"
    return Part(name, "a part", 1, ["sh", "-c", script])
parts = [part("one", "true"), part("two", sys.argv[3]), part("three", "true")]
print(report_run.measure(pathlib.Path(sys.argv[2]), "quick", parts))
"""


class Measurement(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def start(self, second):
        words = [sys.executable, "-B", "-c", PARTS, FOLDER, self.folder, second]
        return subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def finished(self):
        state = report_run.read_state(self.folder)
        return [(part["name"], part["passed"]) for part in state["finished"]]

    def lines(self):
        return {path.stem: len(path.read_text().splitlines())
                for path in self.folder.glob("*.jsonl")}

    def test_what_is_finished_is_kept_after_an_interruption(self):
        process = self.start("sleep 60")
        deadline = time.monotonic() + 20
        second = self.folder / "running" / "two.jsonl"
        while not second.exists() and time.monotonic() < deadline:
            time.sleep(0.05)
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=30)
        self.assertEqual(self.finished(), [("one", True)])
        self.assertEqual(self.lines(), {"one": 1})
        out, told = self.start("true").communicate(timeout=30)
        self.assertEqual(out.strip(), "True")
        self.assertEqual(self.lines(), {"one": 1, "two": 1, "three": 1})
        self.assertIn("measured before: one", told)
        self.assertIn("[1 of 2] two", told)
        self.assertIn("then: three", told)

    def test_a_part_that_fails_is_told_and_tried_again(self):
        out, told = self.start("false").communicate(timeout=30)
        self.assertEqual(out.strip(), "False")
        self.assertIn("two: FAILED", told)
        self.assertEqual(self.finished(), [("one", True), ("two", False), ("three", True)])
        self.assertEqual(self.start("true").communicate(timeout=30)[0].strip(), "True")
        self.assertEqual(self.finished(), [("one", True), ("three", True), ("two", True)])

    def test_the_quick_selection_takes_less_than_ten_minutes(self):
        self.assertLess(sum(part.seconds for part in report_parts.QUICK), 600)


if __name__ == "__main__":
    unittest.main()
