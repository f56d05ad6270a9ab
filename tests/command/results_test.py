#!/usr/bin/env python3
"""Figures in the texts of results: what has no line behind it is refused."""
import pathlib
import re
import sys
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "results"))
sys.dont_write_bytecode = True

import figures  # noqa: E402
import recorded  # noqa: E402

ROW = "| M1: what | 3 times | {} | `a command`, 2 ranks | works |"


class Recording(unittest.TestCase):
    def test_the_page_promises_what_was_measured(self):
        text = (ROOT / "docs" / "record.md").read_text()
        cost = float(re.search(r"costs at most ([\d.]+) us more", text).group(1))
        near = float(re.search(r"within (\d+) % of the job", text).group(1)) / 100
        in_memory = [row for row in recorded.overheads() if row["where"] == "memory"]
        self.assertGreaterEqual(len(in_memory), 8)  # Both MPIs, with Sluice and without.
        self.assertLessEqual(max(row["us_a_call"]["median"] for row in in_memory), cost)
        self.assertGreaterEqual(len(recorded.replays()), 4)
        for row in recorded.replays():
            self.assertLessEqual(abs(row["ratio"]["median"] - 1), near, row["program"])


class Figures(unittest.TestCase):
    def test_each_name_is_replaced(self):
        known = figures.all_figures()
        self.assertGreater(len(known), 50)
        self.assertEqual(figures.filled("a {zstd_ratio} b"), f"a {known['zstd_ratio']} b")

    def test_a_name_that_is_none_is_refused(self):
        with self.assertRaises(KeyError):
            figures.filled("{no_such_figure}")

    def test_a_figure_typed_by_hand_is_found(self):
        for cell in ("4 times", "{waited}, median 0.99", "hidden 98 %"):
            self.assertEqual(len(list(figures.typed_by_hand(ROW.format(cell)))), 1, cell)
        for cell in ("{waited} times", "`file_2.cpp`", "[a page](results/2.md)", "no figure"):
            self.assertEqual(list(figures.typed_by_hand(ROW.format(cell))), [], cell)

    def test_the_page_of_the_papers_has_none_and_all_rows(self):
        text = (ROOT / "study" / "results" / "papers.md").read_text()
        self.assertEqual(list(figures.typed_by_hand(text)), [])
        rows = {line.split(":")[0][2:] for line in text.splitlines() if line.startswith("| ")}
        wanted = [f"{letter}{n}" for letter, count in zip("MLNAI", (7, 8, 7, 8, 9))
                  for n in range(1, count + 1)]
        self.assertEqual([name for name in wanted if name not in rows], [])


if __name__ == "__main__":
    unittest.main()
