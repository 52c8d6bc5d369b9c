"""ostraka compare: a grid gives equal bytes, whatever interrupts it and however it is sharded."""
import csv
import hashlib
import io
import json
import os
import random
import signal
import subprocess
import time
import unittest
import zipfile

import browser
import harness
from harness import Running, TestCase, await_gone, children_of, needs_torch, run

GRID = """
name = "e2e <grid> & co"
peers = 9
byzantine = 2
rules = ["mean", "centered_clip:tau=0.1|1", "median+nnm", "btard"]
partition = ["shared", "dirichlet:alpha=0.1"]
attacks = ["none", "random_direction"]
attack_from = 4
seeds = "0..1"
steps = 12
evaluate_every = 4
study = true
"""
PIPELINES = 5  # the protocol's too
SERVER_CELLS = 4 * 2 * 2 * 2  # pipelines, partitions, attacks, seeds
CELLS = SERVER_CELLS + 2 * 2  # and the protocol on shared data
OUTPUTS = ["results.csv", "results.json", "selection.csv", "table.tex", "table.md", "grid.toml"]
SEAL_DIGITS = 16
ID_DIGITS = 16  # of a cell in tables


class CompareTest(TestCase):
    def setUp(self):
        super().setUp()
        self.grid = self.folder / "grid.toml"
        self.grid.write_text(GRID)

    def compare(self, *args, code=0):
        result = run("compare", *args, "--json", cwd=self.folder)
        self.assertEqual(result.returncode, code, result.stderr)
        return json.loads(result.stdout)

    def refused_grid(self, code, grid, *parts, args=("--out", "refused")):
        """One line, and nothing is left behind."""
        self.grid.write_text(grid)
        self.refused(code, ["compare", self.grid, *args], *parts, cwd=self.folder)
        self.assertEqual([path.name for path in self.folder.iterdir()], ["grid.toml"])

    def outputs(self, out):
        return {name: (self.folder / out / name).read_bytes() for name in OUTPUTS}

    def stored_ids(self, out):
        """Of all records, in the order in which they were written."""
        lines = (self.folder / out / "cells.jsonl").read_text().splitlines()
        return [json.loads(line[SEAL_DIGITS + 1:])["id"] for line in lines[1:]]

    def rows(self, out):
        return list(csv.DictReader(io.StringIO((self.folder / out / "results.csv").read_text())))


LOCAL_GRID = """
name = "local steps"
data = "text:book.txt"
model = "gpt:layers=1,width=16,heads=2,context=8"
peers = 5
byzantine = 1
rules = ["mean", "median", "btard"]
attacks = ["none", "ascent", "skip_inner", "ipm:eps=1000"]
seeds = 0
steps = 48
batch_size = 4
evaluate_every = 16
score = "loss"
optimizer = "adamw"
inner_steps = [1, 4]
learning_rate = 0.01
schedule = "cosine"
"""
LOCAL_CELLS = 3 * (3 + 4)  # skip_inner has nothing to skip at 1


class LocalSteps(CompareTest):
    """Pseudo-gradients, by the exact kernels: no trainer module is needed."""

    def test_losses_rank_and_bytes_repeat(self):
        self.grid.write_text(LOCAL_GRID)
        (self.folder / "book.txt").write_text("".join(f"abcd efgh ijkl {i % 7}" for i in range(600)))
        results = []
        for out, jobs in (("once", 1), ("twice", 2)):
            ended = self.compare(self.grid, "--out", out, "--jobs", jobs)
            self.assertEqual((ended["cells"], ended["profile"]), (LOCAL_CELLS, "exact/1"))
            results.append(self.outputs(out))
        self.assertEqual(results[0], results[1])
        table = (self.folder / "once" / "table.md").read_text()
        self.assertIn("inner_steps 4", table)
        self.assertIn("test loss in nats", (self.folder / "once" / "report.html").read_text())
        rows = {(row["inner_steps"], row["rule"], row["attack"]): row for row in self.rows("once")}
        loss = {key: float(row["test_loss"]) for key, row in rows.items()}
        for inner in "14":
            self.assertGreater(loss[inner, "mean", "ipm:eps=1000"], loss[inner, "median", "ipm:eps=1000"] + 0.5)
        self.assertEqual(rows["4", "btard", "ascent"]["removed_honest"], "0")
        self.assertNotIn(("1", "mean", "skip_inner"), rows)


@needs_torch
class Results(CompareTest):
    def kill_when(self, cells, out):
        """Continues, and is killed at some moment once this many cells are stored."""
        store = self.folder / out / "cells.jsonl"
        running = Running("compare", self.grid, "--out", out, "--jobs", 2, cwd=self.folder)
        deadline = time.monotonic() + harness.DEADLINE_S
        while not store.exists() or store.read_bytes().count(b"\n") - 1 < cells:
            self.assertIsNone(running.process.poll(), "it ended before it could be killed")
            self.assertLess(time.monotonic(), deadline)
            time.sleep(0.003)  # how often we look
        workers = children_of(running.pid)
        running.signal(signal.SIGKILL)  # the parent alone: its workers must follow
        await_gone([running.pid, *workers])
        self.assertEqual(running.finish(), -signal.SIGKILL)
        running.close()

    @harness.in_soak
    def test_a_grid_gives_equal_bytes_after_ten_kills(self):
        whole = self.compare(self.grid, "--out", "whole")
        self.assertEqual((whole["ok"], whole["cells"], whole["done"]), (True, CELLS, CELLS))
        expected = self.outputs("whole")
        self.compare(self.grid, "--out", "again", "--jobs", 1)
        self.assertEqual(self.outputs("again"), expected)
        # The first cells are one of each kind, so that the estimate of the remaining time comes early.
        pipelines = {row["id"]: row["pipeline"] for row in self.rows("again")}
        first = [pipelines[cell_id[:ID_DIGITS]] for cell_id in self.stored_ids("again")]
        self.assertEqual(set(first[:PIPELINES]), set(pipelines.values()))
        for cells in sorted(random.Random(6).sample(range(CELLS * 2 // 3), 10)):
            self.kill_when(cells, "killed")
        self.compare(self.grid, "--out", "killed")
        self.assertEqual(self.outputs("killed"), expected)
        # Each cell ran once and is stored once.
        ids = self.stored_ids("killed")
        self.assertEqual(len(ids), CELLS)
        self.assertEqual(len(set(ids)), CELLS)

    def test_a_torn_store_is_continued(self):
        self.compare(self.grid, "--out", "whole")
        expected = self.outputs("whole")
        store = self.folder / "whole" / "cells.jsonl"
        data = store.read_bytes()
        for size in (len(data) // 2, len(data) - 1, 40):
            store.write_bytes(data[:size])
            self.compare(self.grid, "--out", "whole")
            self.assertEqual(self.outputs("whole"), expected)

    def test_merged_shards_equal_the_whole(self):
        self.compare(self.grid, "--out", "whole")
        for shard in (1, 2, 3):
            part = self.compare(self.grid, "--out", f"part-{shard}", "--shard", f"{shard}/3")
            self.assertTrue(part["ok"])
        missing = self.compare("merge", "two", "part-1", "part-2", code=1)
        self.assertLess(missing["done"], CELLS)
        merged = self.compare("merge", "merged", "part-1", "part-2", "part-3")
        self.assertEqual(merged["done"], CELLS)
        self.assertEqual(self.outputs("merged"), self.outputs("whole"))

    def test_merge_refuses_to_mix(self):
        self.compare(self.grid, "--out", "a", "--shard", "1/2")
        self.compare(self.grid, "--out", "b", "--shard", "2/2")
        store = self.folder / "b" / "cells.jsonl"
        header, rest = store.read_bytes().split(b"\n", 1)
        changed = header[SEAL_DIGITS + 1:].replace(b"numerics ", b"numerics 1")
        seal = hashlib.blake2b(changed, digest_size=32, person=b"compare.line/1").hexdigest()
        store.write_bytes(seal[:SEAL_DIGITS].encode() + b" " + changed + b"\n" + rest)
        result = run("compare", "merge", "c", "a", "b", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("refusing to mix compute profiles", result.stderr)
        self.grid.write_text(GRID.replace("steps = 12", "steps = 13"))
        self.compare(self.grid, "--out", "d", "--shard", "2/2")
        result = run("compare", "merge", "c", "a", "d", cwd=self.folder)
        self.assertEqual(result.returncode, 2)
        self.assertIn("another grid", result.stderr)

    def test_every_parameter_is_a_column_and_the_study_can_be_read(self):
        self.compare(self.grid, "--out", "out")
        rows = self.rows("out")
        self.assertEqual(len(rows), CELLS)
        self.assertEqual(len({row["id"] for row in rows}), CELLS)
        for row in rows:
            for name in ("version", "profile", "partition", "pipeline", "attack", "seed"):
                self.assertTrue(row[name], name)
            self.assertEqual(row["removed_honest"], "0" if row["rule"] == "btard" else "")
        archives = sorted((self.folder / "out" / "study").iterdir())
        self.assertEqual(len(archives), SERVER_CELLS)
        with zipfile.ZipFile(archives[0]) as archive:
            self.assertIsNone(archive.testzip())
            self.assertIn("cos_honest_aggregate.npy", archive.namelist())
            self.assertTrue(archive.read("rate.npy").startswith(b"\x93NUMPY"))

    @harness.in_soak
    def test_a_text_is_data_too(self):
        words = "the city wrote a name on a shard and counted the shards of the city ".split()
        draw = random.Random(1)
        (self.folder / "words.txt").write_text(" ".join(draw.choice(words) for _ in range(3000)))
        self.grid.write_text('data = "text:words.txt"\nmodel = "mlp"\npeers = 5\nbyzantine = 1\nseeds = 0\n'
                             'rules = ["mean", "median", "btard"]\npartition = ["shared", "extreme"]\n'
                             'attacks = "sign_flip"\nbatch_size = 16\nsteps = 80\nattack_from = 10\nmomentum = 0.9\n')
        self.assertEqual(self.compare(self.grid, "--out", "out")["done"], 5)
        accuracy = {(row["rule"], row["partition"]): float(row["test_accuracy"])
                    for row in self.rows("out")}
        self.assertLess(accuracy["mean", "shared"], 0.4)  # it was told to unlearn
        self.assertGreater(accuracy["median", "shared"], 0.5)
        self.assertGreater(accuracy["btard", "shared"], 0.5)
        (picture,) = (self.folder / "out" / "figures").glob("partition*.svg")
        self.assertIn("tenth 9", picture.read_text())

    def test_failed_cells_are_reported_and_repeated_on_request(self):
        # A rule with memory by row index cannot leave out a row.
        self.grid.write_text('rules = ["mean", "foolsgold"]\nattacks = "nan"\nseeds = 0\nsteps = 4\n')
        first = self.compare(self.grid, "--out", "out", code=1)
        self.assertEqual((first["ok"], first["done"]), (False, 1))
        self.assertIn("not finite", first["failed"][0])
        store = self.folder / "out" / "cells.jsonl"
        lines = store.read_bytes().count(b"\n")
        self.compare(self.grid, "--out", "out", code=1)
        self.assertEqual(store.read_bytes().count(b"\n"), lines)
        self.compare(self.grid, "--out", "out", "--retry-failed", code=1)
        self.assertEqual(store.read_bytes().count(b"\n"), lines + 1)

    def test_a_folder_in_use_is_refused(self):
        self.grid.write_text(GRID.replace("steps = 12", "steps = 2000"))
        running = Running("compare", self.grid, "--out", "out", cwd=self.folder)
        self.addCleanup(running.close)
        running.wait_for("stderr", lambda line: "cells" in line)
        result = run("compare", self.grid, "--out", "out", cwd=self.folder)
        self.assertEqual(result.returncode, 3)
        self.assertIn("in use", result.stderr)

    def test_a_dry_run_counts_and_runs_nothing(self):
        result = self.compare(self.grid, "--dry-run")
        self.assertEqual(result["cells"], CELLS)
        self.assertGreater(result["estimated_seconds"], 0)
        self.assertIn("shared only", result["left_out"][0])
        self.assertEqual([path.name for path in self.folder.iterdir()], ["grid.toml"])


class BadGrids(CompareTest):
    def test_one_line_before_the_first_cell(self):
        self.refused_grid(2, 'rules = "krumm"', "did you mean 'krum'?")
        self.refused_grid(2, 'rules = "krum"\nbyzantine = 7', "f = 7 with n = 16", "at most f = 6")
        self.refused_grid(2, 'rules = "mean"\nattacks = "alei"', "did you mean 'alie'?")
        self.refused_grid(2, 'rules = "mean"\nsteps = 0', "steps")
        self.refused_grid(2, 'rules = "mean"\nstesp = 10', "line 2", "did you mean 'steps'?")
        self.refused_grid(2, 'rules = [', "line 1")
        self.refused_grid(3, 'rules = "mean"\ndata = "mnist:/nonexistent"', "/nonexistent")
        self.refused_grid(3, 'rules = "mean"\ndata = "text:/nonexistent"', "/nonexistent does not exist")
        self.refused_grid(2, 'rules = "mean"\ndata = "text"', "text:FILE")
        self.refused_grid(2, f'rules = "mean"\nmodel = "cnn"\ndata = "text:{__file__}"', "for images")
        self.refused_grid(2, 'rules = "mean"\nseeds = [1, 1]', "listed twice")
        self.refused_grid(2, 'rules = "mean"', "--shard '3/2'", args=("--out", "refused", "--shard", "3/2"))

    def test_usage(self):
        for args, part in ((["compare"], "--preset"), (["compare", "--preset", "smok"], "'smoke'"),
                           (["compare", "none.toml"], "none.toml"),
                           (["compare", self.grid], "--out DIR is missing"),
                           (["compare", self.grid, "--otu", "x"], "--out")):
            self.refused(3 if "none.toml" in args else 2, args, part, cwd=self.folder)

    @needs_torch
    def test_a_folder_that_cannot_be_written(self):
        self.refused_grid(3, 'rules = "mean"', "/proc/none", args=("--out", "/proc/none"))
        (self.folder / "file").touch()
        self.refused(3, ["compare", self.grid, "--out", "file"], "file", cwd=self.folder)

    @needs_torch
    @unittest.skipUnless(os.geteuid() == 0, "NOT TESTED: a full disk; only root mounts one")
    def test_a_disk_that_is_too_small(self):
        disk = self.folder / "disk"
        disk.mkdir()
        mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=512k", "tmpfs", disk],
                                 capture_output=True, check=False)
        if mounted.returncode != 0:
            self.skipTest("NOT TESTED: a full disk; this machine lets nobody mount one")
        self.addCleanup(subprocess.run, ["umount", disk], check=True)
        result = run("compare", self.grid, "--out", disk / "out", cwd=self.folder)
        self.assertEqual(result.returncode, 3)
        self.assertIn("MiB free", result.stderr)
        self.assertEqual(result.stderr.count("\n"), 1)


# Finds, in the page itself, texts of a drawing that lie over each other or leave it.
@needs_torch
@browser.needs_browser
class Report(CompareTest):
    @harness.in_soak
    def test_every_figure_is_drawn_without_overlaps(self):
        self.compare(self.grid, "--out", "out")
        text = (self.folder / "out" / "report.html").read_text()
        self.assertNotIn("http", text.replace("http://www.w3.org/2000/svg", ""))
        probe = browser.probe(text, self.folder)
        self.assertEqual(probe["found"], [])
        self.assertEqual(probe["figures"], len(list((self.folder / "out" / "figures").iterdir())))
        for kind in ("table", "curves", "cost", "map", "bans", "partition"):
            self.assertTrue(list((self.folder / "out" / "figures").glob(kind + "*.svg")), kind)


if __name__ == "__main__":
    harness.main()
