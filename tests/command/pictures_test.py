#!/usr/bin/env python3
"""Pictures of results say what was measured: bars below zero are drawn, the line at zero is there,
titles say measured or simulated, one thing has one colour. Without matplotlib (build/env/tools) it
skips."""
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = ROOT / "build" / "env" / "tools" / "bin" / "python"
sys.path[:0] = [str(ROOT / "results"), str(ROOT / "study" / "results"), str(ROOT / "examples")]
sys.dont_write_bytecode = True


def script(path):
    """A program without an ending as a module."""
    loader = importlib.machinery.SourceFileLoader(path.name.replace("-", "_"), str(path))
    spec = importlib.util.spec_from_loader(loader.name, loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


def read(name):
    path = ROOT / "study" / "results" / name
    return [json.loads(line) for line in path.read_text().splitlines()]


class Pictures(unittest.TestCase):
    def setUp(self):
        self.figures = {}
        palette.save = lambda figure, path: self.figures.update({path.name: figure}) or path
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def draw(self, call):
        """The figures of a script, which writes no file here."""
        printed, sys.stdout = sys.stdout, open(os.devnull, "w", encoding="utf-8")
        try:
            call()
        except FileNotFoundError:  # It would say how large the file is.
            pass
        finally:
            sys.stdout.close()
            sys.stdout = printed

    def texts(self, figure):
        texts = [text.get_text() for text in figure.texts]
        if figure.get_suptitle():
            texts.append(figure.get_suptitle())
        for axes in figure.axes:
            texts += [axes.get_title(loc="left"), axes.get_xlabel(), axes.get_ylabel()]
        return " ".join(texts)

    def test_bars_below_zero_are_drawn(self):
        module = script(ROOT / "study" / "results" / "picture-collectives")
        figure, axes = palette.plt.subplots()
        way = {"hidden": {"median": -0.5, "min": -0.9, "max": 0.2}}
        far = {"hidden": {"median": -9.0, "min": -9.5, "max": -2.0}}
        module.draw_hidden(axes, [{"ways": {"mpi": way, "sluice": far}}])
        heights = sorted(bar.get_height() for bar in axes.patches)
        self.assertEqual(heights, [-900, -50])
        self.assertIn("-900", [text.get_text() for text in axes.texts])
        self.assertTrue(any(list(line.get_ydata()) == [0, 0] for line in axes.lines))
        whiskers = [segment for collection in axes.collections
                    for segment in collection.get_segments()]
        self.assertIn([-90, 20], [sorted(end[1] for end in segment) for segment in whiskers])
        palette.plt.close(figure)

    def test_what_is_simulated_says_so(self):
        module = script(ROOT / "study" / "results" / "picture-exchange")
        lines = [line for line in read("exchange.jsonl") if line["mode"] == "kernels"]
        self.draw(lambda: module.draw_kernels(module.newest(lines), 1024, self.folder))
        throttles = [line for line in read("exchange.jsonl") if line["mode"] == "throttle"]
        self.draw(lambda: module.draw_throttles(module.newest(throttles), self.folder))
        self.assertEqual(len(self.figures), 2)
        for figure in self.figures.values():
            self.assertIn("simulated", figure.get_suptitle())
            self.assertIn("simulated", self.texts(figure).replace(figure.get_suptitle(), ""))

    def test_what_is_measured_says_so(self):
        module = script(ROOT / "study" / "results" / "picture-collectives")
        rows = read("collectives-each.jsonl")[-40:]
        self.draw(lambda: module.draw_overlap(rows, self.folder))
        self.assertTrue(self.figures)
        for figure in self.figures.values():
            self.assertIn("measured", figure.get_suptitle())
            self.assertEqual(figure.axes[0].get_ylim(), module.HIDDEN_LIMITS)

    def test_parts_of_a_run_are_all_of_it(self):
        module = script(ROOT / "results" / "picture-front")
        figure, axes = palette.plt.subplots()
        row = {"variants": {"one": {"total": {"median": 5.0}, "compute": {"median": 3.0},
                                    "calls": {"median": 1.5}}}}
        self.assertEqual(module.draw_run(axes, 0, row, "one"), 5)
        self.assertEqual([bar.get_width() for bar in axes.patches], [3, 1.5, 0.5])
        self.assertEqual([text.get_text() for text in axes.texts], ["5.0 s"])
        palette.plt.close(figure)

    def test_first_pictures_say_where_they_were_measured(self):
        module = script(ROOT / "results" / "picture-front")
        module.save = lambda figure, path: self.figures.update({path.name: figure})
        for draw in (module.draw_front, module.draw_hidden, module.draw_correctness,
                     module.draw_choice):
            draw(self.folder)
        self.assertEqual(len(self.figures), 4 + len(module.PAGES))
        for name, figure in self.figures.items():
            self.assertRegex(figure.get_suptitle(), "[Mm]easured", name)
            self.assertTrue((ROOT / "docs" / "images" / name).exists(), name)
            palette.plt.close(figure)

    def test_one_colour_for_one_thing(self):
        for group in (palette.CONTENDERS, palette.DEVICES, palette.PARTS, palette.KERNELS,
                      palette.ESTIMATES, palette.RUNS):
            self.assertEqual(len(set(group.values())), len(group))
        elsewhere = {*palette.DEVICES.values(), *palette.PARTS.values(), *palette.KERNELS.values(),
                     *palette.RUNS.values()}
        self.assertFalse(elsewhere & set(palette.CONTENDERS.values()))

    def test_blocking_runs_hide_nothing(self):
        demo = script(ROOT / "examples" / "demo")
        def report(total, blocked):
            return [{"times": {"total": total, "blocked": blocked}}]
        rows = demo.rows_of({("mpich", "plain", "blocking"): report(10, 5.0),
                             ("mpich", "Sluice", "blocking"): report(9, 4.4),
                             ("mpich", "Sluice", "nonblocking"): report(5, 1.1)})
        self.assertEqual([round(row["hidden"], 9) for row in rows], [0, 0, 0.75])
        import draw  # pylint: disable=import-outside-toplevel
        self.assertNotIn("hidden", draw.remark(rows[1]))
        self.assertIn("75%", draw.remark(rows[2]))


if __name__ == "__main__":
    if os.environ.get("SLUICE_PICTURES") != "1" and TOOLS.exists():
        os.environ["SLUICE_PICTURES"] = "1"
        os.execv(TOOLS, [str(TOOLS), __file__, *sys.argv[1:]])
    try:
        import palette
    except ImportError as why:
        print(f"skipped: {why}")
        sys.exit(0)
    unittest.main()
