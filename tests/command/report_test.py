#!/usr/bin/env python3
"""What `sluice report` says of a log and of a trace whose figures are known, and that its page
needs nothing else. Where there is a Chromium the page is opened, and what it shows is looked for.

The command is $SLUICE.
"""
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from html import escape

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "python"))
sys.dont_write_bytecode = True

from sluice import record, timeline  # noqa: E402
from sluice.report import advice, figures, job as jobs, page, parts, pictures  # noqa: E402

GOLDEN = ROOT / "tests" / "golden" / "trace.json"
MS = 1_000_000
# Two ranks, each: a blocking write that takes 100 ms with 60 ms behind it, a nonblocking one of
# which 50 of 250 ms are waited for, and 40 small independent ones of 1 ms.
RANK = """sluice-record 1
rank {rank} ranks=2 start=1000 node=host{rank} mpi=MPI program=app sluice=0
group 0 ranks=0,1
type 0 size=1 extent=1 pieces=1
type 1 size=1024 extent=4096 pieces=2
open 0 0 {ms10} group=0 name=/f mode=create
set_view 0 {ms10} 1000 at=0 etype=0 filetype=1 rep=native
write_all 0 {ms20} {ms100} n=1048576 t=0
iwrite_all 0 {ms180} 1000 n=1048576 t=0 r=0
wait -1 {ms380} {ms50} r=0
{small}close 0 {ms600} 1000
end {ms700}
"""


# What a browser finds in frames with the page: pictures that are shown, and what is too wide.
WIDTHS = (320, 390, 700, 820, 1280)
LOOK = """<script>onload = () => { for (const frame of document.querySelectorAll("iframe")) {
  const page = frame.contentDocument, all = [...page.querySelectorAll("*")];
  const pictures = all.filter(one => one.localName == "svg" && one.getBoundingClientRect().width);
  const letters = pictures.flatMap(one => [...one.querySelectorAll("text")]);
  const boxes = all.filter(one => one.clientWidth && !one.ownerSVGElement);
  const cut = boxes.filter(one => one.scrollWidth > one.clientWidth + 1).concat(
    letters.filter(one => {
      const [of, in_] = [one, one.ownerSVGElement].map(box => box.getBoundingClientRect());
      return of.left < in_.left - 1 || of.right > in_.right + 1 || of.height < 10; }));
  document.title += `${frame.clientWidth}: ${pictures.length} pictures`
    + cut.map(one => `, ${one.localName} '${one.textContent.slice(0, 40)}'`).join("") + ";";
} }</script>"""


def log_text(ranks=(0, 1)):
    small = "".join(f"write_at 0 {(430 + 4 * i) * MS} {MS} n=100 t=0 at={i}\n" for i in range(40))
    numbers = {f"ms{n}": n * MS for n in (10, 20, 50, 100, 180, 380, 600, 700)}
    return "".join(RANK.format(rank=rank, small=small, **numbers) for rank in ranks)


def delayed_job(setting):
    """The same job with write-behind, which waits 90 ms in the close."""
    text = log_text().replace("sluice=0", f"sluice=0 {setting}")
    text = text.replace(f"close 0 {600 * MS} 1000", f"close 0 {600 * MS} {90 * MS}")
    return jobs.from_log(record.parse(text), "log")


class Figures(unittest.TestCase):
    def setUp(self):
        self.job = jobs.from_log(record.parse(log_text()), "log")

    def test_waited_and_under_way(self):
        found = figures.by_file(self.job)
        self.assertEqual([one.name for one in found], ["/f"])
        self.assertAlmostEqual(found[0].blocked, 0.100 + 0.050 + 40 * 0.001, places=4)
        self.assertAlmostEqual(found[0].under_way, 0.100 + 0.250 + 40 * 0.001, places=4)
        self.assertEqual(found[0].bytes_written, 2 * (2 * 1048576 + 40 * 100))

    def test_a_wait_counts_with_what_it_completes(self):
        found = {one.name: one for one in figures.by_call(self.job)}
        self.assertAlmostEqual(found["iwrite_all and its wait"].blocked, 0.050, places=4)
        self.assertEqual(found["write_at"].calls, 80)
        self.assertNotIn("wait", found)

    def test_pieces_are_those_of_the_view(self):
        found = {one.most: one.piece for one in figures.by_size(self.job)}
        self.assertEqual(found[1 << 20], 512)

    def test_sizes_are_those_that_the_job_has(self):
        self.assertEqual([row[0] for row in parts.sizes(self.job).rows], ["100 B", "1 MiB"])
        other = log_text().replace("n=100 t=0 at=3\n", "n=2048 t=0 at=3\n")
        two = jobs.from_log(record.parse(other), "log")
        self.assertEqual(parts.sizes(two).rows[0][0], "100 B to 2 KiB")

    def test_the_rate_is_that_of_all_ranks_while_bytes_were_on_their_way(self):
        moved = 2 * (2 * 1048576 + 40 * 100)
        self.assertAlmostEqual(figures.by_file(self.job)[0].rate, moved / 0.390, delta=100)
        # A nonblocking write is complete when the program hears of it, or long before.
        self.assertIn("at least 10.3 MiB/s", dict(parts.head(self.job))["moved"])
        self.assertIn("the least that it can have been", parts.notes(self.job))
        blocking = re.sub(r"(iwrite_all|wait) .*\n", "", log_text())
        job = jobs.from_log(record.parse(blocking), "log")
        self.assertNotIn("at least", dict(parts.head(job))["moved"])
        self.assertEqual(parts.notes(job), "")
        self.assertEqual(parts.files(self.job).rows[0][4], "10.3")

    def test_a_bar_is_of_one_rank(self):
        """Not the wait of one behind the hidden seconds of another, longer than the run."""
        late = log_text((1,)).replace(f"wait -1 {380 * MS} {50 * MS}", f"wait -1 {420 * MS} 0")
        late = late.replace(f"close 0 {600 * MS} 1000", f"close 0 {600 * MS} {90 * MS}")
        (name, in_calls, hidden), = parts.bars(jobs.from_log(
            record.parse(log_text((0,)) + late), "log"))
        self.assertEqual(name, "/f")
        # Rank 1: 100 ms, 40 of 1 ms and the close of 90 ms; its nonblocking write takes 240 ms.
        self.assertAlmostEqual(in_calls, 0.100 + 40 * 0.001 + 0.090, places=4)
        self.assertAlmostEqual(hidden, 0.240, places=4)
        self.assertNotIn(" + 0 s", pictures.blocked_bars([("/f", 0.1, 4e-9), ("/g", 0.1, 0.0)]))

    def test_heat_adds_up_to_the_seconds_in_calls(self):
        cells = figures.heat(self.job, columns=70, rows_most=2)
        for row, rank in zip(cells, (0, 1)):
            self.assertAlmostEqual(sum(row) * self.job.seconds / 70,
                                   figures.blocked_by_rank(self.job)[rank], places=4)
        self.assertEqual(len(figures.heat(self.job, columns=5, rows_most=1)), 1)

    def test_advice_is_no_more_than_the_room_beside_a_call(self):
        found = {one.title: one.seconds for one in advice.advice(self.job)}
        # The write of 100 ms has 60 ms behind it, each small one 3 ms for its 1 ms.
        behind = found["Delay blocking writes with sluice run --behind"]
        self.assertAlmostEqual(behind, 0.060 + 40 * 0.001, places=3)
        self.assertNotIn("Keep files open", found)
        self.assertIn("Use collective functions for small accesses", found)

    def test_delayed_writes_are_not_advised_again_and_the_close_is(self):
        for setting in ("env.SLUICE_WRITE_BEHIND=256M", "env.SLUICE_WRITE_BEHIND=4G,/dev/shm",
                        "env.SLUICE_HINTS=cb_nodes%3d2;sluice_write_behind%3d1048576"):
            job = delayed_job(setting)
            found = {one.title: one for one in advice.advice(job)}
            self.assertNotIn("Delay blocking writes with sluice run --behind", found)
            close = found["Write earlier, or less, before the close"]
            self.assertAlmostEqual(close.seconds, 0.090, places=4)
            # 4.008 MiB from the first write at 20 ms to the end of the close at 690 ms.
            self.assertIn("at least 5.98 MiB/s", close.text)
            row, = parts.files(job).rows
            self.assertEqual(row[5:], ["190 ms", "90 ms", "-", "-"])
            self.assertIn("write-behind", parts.delayed_note(job))

    def test_writes_are_delayed_only_where_the_library_did_so(self):
        for setting in ("env.SLUICE_WRITE_BEHIND=0", "env.SLUICE_HINTS=sluice_write_behind%3d0"):
            self.assertEqual(delayed_job(setting).behind, set())
        off = log_text().replace("sluice=0", "sluice=off env.SLUICE_WRITE_BEHIND=256M")
        self.assertEqual(jobs.from_log(record.parse(off), "log").behind, set())
        hint = log_text().replace("mode=create", "mode=create hint.sluice_write_behind=1048576")
        self.assertEqual(jobs.from_log(record.parse(hint), "log").behind, {"/f"})

    def test_reading_ahead_is_not_advised_again(self):
        read = log_text().replace("write_all", "read_all")
        read = read.replace(f"read_all 0 {20 * MS}", f"read_all 0 {60 * MS}")
        title = "Read ahead with sluice run --ahead"
        ahead = "sluice=0 env.SLUICE_HINTS=cb_nodes%3d2;sluice_read_ahead%3d256M"
        for head, advised in (("sluice=0", True), (ahead, False)):
            job = jobs.from_log(record.parse(read.replace("sluice=0", head)), "log")
            self.assertEqual(title in {one.title for one in advice.advice(job)}, advised)

    def test_the_rank_that_comes_last_has_a_name(self):
        """One that is last to half of the calls only has none."""
        first, second = log_text((0,)), log_text((1,))
        second = second.replace(f"write_all 0 {20 * MS}", f"write_all 0 {25 * MS}")
        for begin, said in ((181, "Rank 1 came last to 2 of 2 of them"),
                            (179, "not always the same one that came last")):
            moved = second.replace(f"iwrite_all 0 {180 * MS}", f"iwrite_all 0 {begin * MS}")
            job = jobs.from_log(record.parse(first + moved), "log")
            job.trace = timeline.Timeline(rows={(0, 1): "program"}, slices=[timeline.Slice(
                0, 1, "wait", "waits for other ranks' calls", 0, 100 * MS, {})])
            text, = (one.text for one in advice.advice(job)
                     if one.title == "Let ranks come to their calls together")
            self.assertIn(said, text)
            self.assertEqual(parts.waits(job).rows[0][0], "waits until other ranks make the call")

    def test_a_job_that_waits_for_nothing_gets_none(self):
        text = log_text().replace(str(100 * MS), "10").replace(str(50 * MS), "10")
        idle = jobs.from_log(record.parse(re.sub(r"write_at .*\n", "", text)), "log")
        self.assertEqual(advice.advice(idle), [])
        self.assertIn("this report looks for", parts.no_advice(idle))

    def test_what_only_a_trace_can_tell_is_said_where_calls_took_long(self):
        closing = re.sub(r"(write_a|iwrite_a|wait).*\n", "", log_text())
        closing = closing.replace(f"close 0 {600 * MS} 1000", f"close 0 {600 * MS} {90 * MS}")
        job = jobs.from_log(record.parse(closing), "log")
        self.assertEqual(advice.advice(job), [])
        self.assertIn("sluice run --trace", parts.no_advice(job))
        job.trace = timeline.Timeline()
        self.assertNotIn("sluice run --trace", parts.no_advice(job))

    def test_what_is_missing_is_said(self):
        half = jobs.from_log(record.parse(log_text((0,))), "log")
        self.assertIn("1 of 2 ranks are missing", half.missing)


class Words(unittest.TestCase):
    def test_what_is_left_of_sums_is_nothing(self):
        self.assertEqual(pictures.seconds_text(1.4e-17), "0 s")
        self.assertEqual(pictures.seconds_text(-1.4e-17), "0 s")

    def test_each_moment_below_a_picture_is_another_one_and_round(self):
        for begin, end, second, last in ((0, 2.09, "0.5 s", "2 s"), (0, 4.69, "1 s", "4 s"),
                                         (1.712, 1.7361, "5 ms", "20 ms"),
                                         (0, 0.8, "100 ms", "800 ms"),
                                         (984.0, 984.00001, "2 us", "10 us"),
                                         (5, 5, "0 us", "0 us")):
            for canvas in (pictures.NARROW, pictures.WIDE):
                axis = "".join(pictures._axis(begin, end, 0, canvas))
                ticks = re.findall(r"(?<=>)[\d.]+ [mu]?s(?=<)", axis)
                self.assertEqual(len(set(ticks)), len(ticks))
                self.assertLessEqual(len(ticks), canvas.ticks_most + 1)
            self.assertEqual(ticks[0].split()[0], "0")
            self.assertIn(second, ticks)
            self.assertEqual(ticks[-1], last)


class Page(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "app.record").write_text(log_text())

    def sluice(self, *words):
        result = subprocess.run([os.environ["SLUICE"], "report", *map(str, words)], text=True,
                                timeout=60, capture_output=True, check=False,
                                env=os.environ | {"SLUICE_PYTHON": sys.executable})
        return result.returncode, result.stdout + result.stderr

    def test_a_log_gives_a_page_that_needs_nothing_else(self):
        code, said = self.sluice(self.folder / "app.record")
        self.assertEqual(code, 0, said)
        self.assertIn("at most 100 ms: Delay blocking writes", said)
        text = (self.folder / "app.record.html").read_text()
        self.assertLess(len(text), 2_000_000)
        self.assertEqual(re.findall(r"(?:src|href)=\"(?!data:)[^\"]*", text), [])
        self.assertNotIn("<script", text)
        for title in ("Waited and hidden, by file", "By call", "Ranks against time", "Sizes",
                      "The slowest access", "Advice"):
            self.assertIn(f"<h2>{title}</h2>", text)
        self.assertIn("<b>Delay blocking writes with sluice run --behind (at most 100 ms)</b>",
                      text)
        # Each picture is there for a wide screen and for a narrow one.
        self.assertEqual([text.count(f'<div class="{kind}"><svg') for kind in ("wide", "narrow")],
                         [3, 3])

    def test_what_the_library_decides_is_a_list_of_statements(self):
        """The command breaks its lines, and they would break once more on a narrow screen."""
        listed = page._plan(["Two-phase: 2", "aggregators write. A <round>", "is 1 MiB.", "So."])
        self.assertEqual(re.findall("<li>(.*?)</li>", listed),
                         ["Two-phase: 2 aggregators write. A &lt;round&gt; is 1 MiB.", "So."])
        self.assertEqual(page._plan([]), "")

    def test_of_a_folder_the_trace_gives_the_inside(self):
        shutil.copy(GOLDEN, self.folder / "t.json")
        code, said = self.sluice(self.folder)
        self.assertEqual(code, 0, said)
        self.assertIn("waits for a message", (self.folder / "report.html").read_text())

    def test_a_trace_says_which_writes_were_delayed(self):
        """By a copy in a call; it has no file of its own."""
        slices = [timeline.Slice(0, 1, "copy", "copy to write behind", 11 * MS, 12 * MS, {})]
        slices += [timeline.Slice(0, 1, "call", "MPI_File_write_at_all", begin * MS,
                                  (begin + 5) * MS, {"file": file, "bytes": 1})
                   for begin, file in ((0, "/e"), (10, "/f"), (20, "/g"))]
        self.assertEqual(jobs.from_trace(timeline.Timeline(slices=slices), "t").behind, {"/f"})

    def test_a_trace_alone(self):
        code, said = self.sluice(GOLDEN, "--text")
        self.assertEqual(code, 0, said)
        self.assertIn("write_all", said)

    def test_what_is_neither_is_one_clear_line(self):
        (self.folder / "x").write_text("no log")
        for path in (self.folder / "x", self.folder / "none"):
            code, said = self.sluice(path)
            self.assertEqual((code, len(said.splitlines())), (1, 1), said)
            self.assertIn("sluice report:", said)

    def test_damaged_numbers_are_never_a_traceback(self):
        """Each run draws others."""
        seed = random.randrange(2**32)
        draw = random.Random(seed)
        odd = ("0", "-1", "1e400", "-1e9", "9223372036854775807", "-9223372036854775808")
        for source, name in ((GOLDEN, "m.json"), (self.folder / "app.record", "m.record")):
            text = source.read_text()
            places = [found.span() for found in re.finditer(r"(?<=[:=])-?[\d.]+", text)]
            for _ in range(12):
                begin, end = draw.choice(places)
                (self.folder / name).write_text(text[:begin] + draw.choice(odd) + text[end:])
                with self.subTest(seed=seed):
                    _, said = self.sluice(self.folder / name)
                    self.assertNotIn("Traceback", said)

    def test_text_of_a_trace_is_no_markup_and_no_order_to_a_terminal(self):
        """A trace may be another user's; also numbers of it may be text there."""
        evil = r"</title><script>x()</script>\u001b]0;t\u0007\u000asluice: all is well"
        golden = GOLDEN.read_text()
        for place in (r"/tmp/\"a\"", "MPI_File_write_all", "waits for a message", "rank 2 on node1",
                      '"operation":3', '"cat":"call"', '"bytes":4096'):
            self.assertIn(place, golden)
            name, of_member, _ = place.rpartition(":")
            text = golden.replace(place, f'{name}:"{evil}"' if of_member else evil)
            self.assertIn("<script>", text)
            (self.folder / "evil.json").write_text(text)
            page_of = self.folder / "evil.json.html"
            page_of.unlink(missing_ok=True)
            _, said = self.sluice(self.folder / "evil.json")
            self.assertNotRegex(said, r"[\x00-\x09\x0b-\x1f]")
            self.assertNotRegex(said, "(?m)^sluice: all")
            if page_of.exists():
                self.assertNotIn("<script", page_of.read_text())

    def test_a_damaged_count_of_ranks_is_not_counted_up_to(self):
        text, many = GOLDEN.read_text(), '"ranks":9223372036854775807'
        damaged = re.sub(r'"ranks":\d+', many, text)
        self.assertIn(many, damaged)
        (self.folder / "many.json").write_text(damaged)
        _, said = self.sluice(self.folder / "many.json")
        self.assertNotIn("Traceback", said)

    @unittest.skipUnless(shutil.which("chromium"), "no chromium: apt-get install chromium")
    def test_a_browser_shows_it(self):
        self.sluice(self.folder / "app.record")
        words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                 f"--user-data-dir={self.folder}/browser", f"file://{self.folder}/app.record.html"]
        shown = subprocess.run(words, capture_output=True, text=True, timeout=60,
                               check=False).stdout
        self.assertIn("File I/O of a job", shown)
        self.assertEqual(shown.count("<svg"), 6)
        self.assertIn("host0, host1", shown)

    @unittest.skipUnless(shutil.which("chromium"), "no chromium: apt-get install chromium")
    def test_nothing_is_cut_off_on_a_narrow_screen(self):
        """In frames as wide as telephones and a tablet, as Chromium has no window so narrow."""
        name = "/scratch/" + "a-long-name-of-a-file" * 5
        (self.folder / "app.record").write_text(log_text().replace("name=/f", f"name={name}"))
        self.sluice(self.folder / "app.record")
        shown = escape((self.folder / "app.record.html").read_text())
        (self.folder / "frames.html").write_text("".join(
            f'<iframe style="border:0;width:{width}px" srcdoc="{shown}"></iframe>'
            for width in WIDTHS) + LOOK)
        words = ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--dump-dom",
                 f"--user-data-dir={self.folder}/browser", f"file://{self.folder}/frames.html"]
        dom = subprocess.run(words, capture_output=True, text=True, timeout=60,
                             check=False).stdout
        found = re.search("<title>(.*)</title>", dom).group(1)
        self.assertEqual(found, "".join(f"{width}: 3 pictures;" for width in WIDTHS))


if __name__ == "__main__":
    unittest.main()
