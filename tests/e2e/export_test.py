"""States kept while training, and `ostraka export`: from a finished, running, stopped, killed node."""
import hashlib
import json
import shutil
import signal
import tempfile
import unittest
from pathlib import Path

import harness
import safetensors_file
from harness import TestCase, expect_ok, run

try:
    from safetensors import safe_open
except ImportError:
    safe_open = None

DIGITS = Path(__file__).parents[2] / "node/train/data/digits.csv"


def export(folder, out, *options):
    return json.loads(expect_ok("export", folder, out, "--json", *options))


def kept(folder):
    """Steps of the checkpoints in a data folder."""
    return sorted(int(path.stem.removeprefix("step-"))
                  for path in (folder / "checkpoints").glob("step-*.safetensors"))


# --- what a user's program would do with a model -------------------------------------------------

def leaf(row):
    return hashlib.blake2b(row, digest_size=32, person=b"merkle.leaf/1").digest()


def held_out_digits():
    """(test, validation): rows of (64 pixels and the label), chosen as node/train/dataset.h says."""
    rows = [bytes(map(int, line.split(","))) for line in DIGITS.read_text().splitlines()]
    parts = []
    for share in (5, 10):
        taken = set()
        for label in range(10):
            mine = sorted((leaf(row), i) for i, row in enumerate(rows) if row[-1] == label)
            taken.update(i for _, i in mine[:len(mine) // share])
        parts.append([rows[i] for i in sorted(taken)])
        rows = [row for i, row in enumerate(rows) if i not in taken]
    return parts


def linear(tensors, name, inputs):
    (rows, columns), weight = tensors[name + ".weight"]
    bias = tensors[name + ".bias"][1]
    assert columns == len(inputs)
    return [bias[o] + sum(w * x for w, x in zip(weight[o * columns:(o + 1) * columns], inputs))
            for o in range(rows)]


def classify(model, tensors, pixels):
    inputs = [2 * pixel / 16 - 1 for pixel in pixels]
    if model == "softmax":
        logits = linear(tensors, "linear", inputs)
    else:
        hidden = linear(tensors, "layers.0", inputs)
        logits = linear(tensors, "layers.1", [max(0.0, unit) for unit in hidden])
    return logits.index(max(logits))


class ModelTest(TestCase):
    """Another program's evaluation of an exported model agrees with the node's."""

    def check(self, model, held_out):
        out = self.folder / model
        result = json.loads(expect_ok(
            "swarm", "--peers", 4, "--byzantine", 0, "--attack", "none", "--model", model,
            "--steps", 30, "--evaluate-every", 0, "--evaluate-on", held_out, "--out", out, "--json"))
        self.assertEqual(result["metric"]["on"], held_out)
        self.assertGreater(result["metric"]["value"], 0.7)
        file = self.folder / "model.safetensors"
        exported = export(out / "node2", file)
        self.assertEqual(exported["inputs"], "2 * p / 16 - 1")
        metadata, tensors = safetensors_file.read(file)
        self.assertEqual((metadata["model"], metadata["data"]), (model, exported["data"]))
        self.assertTrue(exported["data"].startswith("digits@"))
        test, validation = held_out_digits()
        rows = {"test": test, "validation": validation}[held_out]
        right = sum(classify(model, tensors, row[:64]) == row[64] for row in rows)
        # The rounding of one program may change which of two nearly equal logits is larger.
        self.assertLessEqual(abs(right - result["metric"]["value"] * len(rows)), 1.01)

    def test_mlp(self):
        self.check("mlp", "test")

    def test_softmax(self):
        self.check("softmax", "validation")


# --- folders of nodes in every state --------------------------------------------------------------

class FinishedTest(TestCase):
    """Three toy nodes that finished; all tests share their run."""

    @classmethod
    def setUpClass(cls):
        cls.base = Path(tempfile.mkdtemp(prefix="ostraka-e2e-"))
        cls.addClassCleanup(shutil.rmtree, cls.base, ignore_errors=True)
        made = harness.Run(cls.base / "run", steps=45, options=["--hidden", "100"])
        cls.addClassCleanup(made.close)
        nodes = [made.start(i, "--checkpoint-every", 10, "--keep-checkpoints", 2) for i in range(3)]
        cls.reports = []
        for node in nodes:
            cls.addClassCleanup(node.close)
            assert node.finish() == 0, node.text["stderr"]
            cls.reports.append(node.report())
        cls.nodes = [made.data_dir(i) for i in range(3)]
        cls.run_id = json.loads(expect_ok("run", "show", "--json", made.manifest))["run_id"]

    def test_the_newest_checkpoints_and_the_last_state_are_kept(self):
        for node, report in zip(self.nodes, self.reports):
            self.assertEqual(kept(node), [39, 44])
            self.assertEqual(report["checkpoint"], str(node / "checkpoints/step-44.safetensors"))
            self.assertEqual([path.name for path in (node / "checkpoints").glob("*.tmp")], [])

    def test_a_folder_of_transformers(self):
        original = self.folder / "original"
        original.mkdir()
        (original / "config.json").write_text("{}")
        (original / "program.py").write_text("raise SystemExit")
        exported = export(self.nodes[0], self.folder / "trained", "--hf", original)
        self.assertEqual(exported["copied"], ["config.json"])
        self.assertEqual(sorted(path.name for path in (self.folder / "trained").iterdir()), ["config.json", "model.safetensors"])
        _, tensors = safetensors_file.read(self.folder / "trained/model.safetensors")
        self.assertEqual([t["name"] for t in exported["tensors"]], list(tensors))
        self.assertIn("beside the model: config.json", expect_ok("export", self.nodes[0], self.folder / "again", "--hf", original))
        ended = run("export", self.nodes[0], self.folder / "again", "--hf", original)
        self.assertEqual((ended.returncode, ended.stderr.count("\n")), (2, 1), ended.stderr)
        self.assertIn("exists: give another folder", ended.stderr)

    def test_a_model_has_names_shapes_and_its_origin(self):
        out = self.folder / "model.safetensors"
        exported = export(self.nodes[0], out)
        metadata, tensors = safetensors_file.read(out)
        self.assertEqual({name: shape for name, (shape, _) in tensors.items()},
                         {"layers.0.weight": [12, 4], "layers.1.weight": [26], "layers.1.bias": [26]})
        self.assertEqual([(t["name"], t["shape"]) for t in exported["tensors"]],
                         [(name, shape) for name, (shape, _) in tensors.items()])
        self.assertEqual(exported["parameters"], 100)
        self.assertEqual(metadata, {
            "format": "pt", "producer": "ostraka", "run_id": self.run_id, "step": "44",
            "model": "toy", "data": "toy", "inputs": "",
            "state_root": self.reports[0]["state_root"]})
        for key in ("run_id", "model", "data", "state_root"):
            self.assertEqual(exported[key], metadata[key])
        self.assertEqual((exported["step"], exported["file"]), (44, str(out)))

    def test_every_node_exports_the_same_bytes(self):
        files = [self.folder / f"{i}.safetensors" for i in range(3)]
        for node, file in zip(self.nodes, files):
            export(node, file)
        self.assertEqual(len({file.read_bytes() for file in files}), 1)

    def test_an_earlier_state_and_the_last_are_those_that_the_run_sealed(self):
        last = export(self.nodes[0], self.folder / "last")
        self.assertEqual((last["step"], last["sealed"]), (44, True))
        exported = export(self.nodes[0], self.folder / "earlier", "--step", 39)
        self.assertTrue(exported["sealed"])
        blocks = json.loads(expect_ok("ledger", "show", "--json", self.nodes[0]))["blocks"]
        after = [block for block in blocks if block["step"] == 40 and not block["genesis"]]
        self.assertEqual(after[0]["state_root"], exported["state_root"])
        self.assertEqual(blocks[-1]["state_root"], last["state_root"])
        self.refused(3, ["export", self.nodes[0], self.folder / "x", "--step", 7], "step 7", "39 44")

    def test_as_text(self):
        text = expect_ok("export", self.nodes[0], self.folder / "m", "--step", 39)
        keeper = json.loads(expect_ok("ledger", "show", "--json", self.nodes[0]))["peer"]
        self.assertEqual(text, f"{self.folder / 'm'}: toy after step 39, 3 tensors, 100 parameters, "
                               f"as the run sealed it, kept by {keeper[:16]}\n")

    @unittest.skipUnless(safe_open, "NOT TESTED: the safetensors package of PyPI is not installed")
    def test_the_reference_reader_reads_it(self):
        out = self.folder / "model.safetensors"
        export(self.nodes[0], out)
        metadata, tensors = safetensors_file.read(out)
        for file, prefix in [(out, ""), (Path(self.reports[0]["checkpoint"]), "optimizer.velocity.")]:
            with safe_open(str(file), "np") as opened:
                self.assertEqual(opened.metadata(), metadata)
                names = set(tensors) | {prefix + name for name in tensors}
                self.assertEqual(set(opened.keys()), names)
                for name, (shape, values) in tensors.items():
                    tensor = opened.get_tensor(name)
                    self.assertEqual(list(tensor.shape), shape)
                    self.assertEqual(tensor.reshape(-1).tolist(), values.tolist())

    def test_no_file_is_overwritten_and_none_is_left_where_it_cannot_be_written(self):
        thesis = self.folder / "thesis"
        thesis.write_text("years of work")
        self.refused(2, ["export", self.nodes[0], thesis], "exists", "another path")
        self.assertEqual(thesis.read_text(), "years of work")
        self.refused(3, ["export", self.nodes[0], self.folder / "none/x"], "No such file")
        self.assertEqual([path.name for path in self.folder.iterdir()], ["thesis"])

    def copy(self):
        node = self.folder / "copy"
        shutil.copytree(self.nodes[0], node)
        return node, node / "checkpoints/step-44.safetensors"

    def test_a_damaged_state_is_refused(self):
        node, file = self.copy()
        whole = file.read_bytes()
        flipped = bytearray(whole)
        flipped[-5] ^= 1
        for data, reason in [(flipped, "state root"), (whole[:-4], "tensors"), (b"", "cut short")]:
            file.write_bytes(data)
            self.refused(2, ["export", node, self.folder / "x"], str(file), "damaged", reason)
        self.assertFalse((self.folder / "x").exists())

    def test_a_damaged_state_names_the_others_and_the_command_that_takes_one(self):
        node, file = self.copy()
        before, out = file.with_name("step-39.safetensors"), self.folder / "x"
        whole = file.read_bytes()
        for broken, other, options in ((file, 39, []), (before, 44, ["--step", 39])):
            kept_bytes = broken.read_bytes()
            broken.write_bytes(whole[:-4])
            refusal = self.refused(2, ["export", node, out, *options], f"of steps {other}, too: ostraka export {node} {out} --step {other}")
            command = refusal.stderr.rstrip("\n").partition("ostraka export ")[2]
            expect_ok("export", *command.split())
            out.unlink()
            broken.write_bytes(kept_bytes)
        before.unlink()
        file.write_bytes(whole[:-4])
        self.refused(2, ["export", node, out], str(file), "holds no other state")

    def test_a_state_of_another_run_is_refused(self):
        node, file = self.copy()
        data = file.read_bytes()
        other = "0" * 64
        self.assertEqual(data.count(self.run_id.encode()), 1)
        file.write_bytes(data.replace(self.run_id.encode(), other.encode()))
        self.refused(2, ["export", node, self.folder / "x"], "belongs to another run")

    def test_other_folders_are_refused(self):
        node, _ = self.copy()
        shutil.rmtree(node / "checkpoints")
        self.refused(3, ["export", node, self.folder / "x"], "holds no state", "--checkpoint-every")
        self.refused(3, ["export", self.folder, self.folder / "x"], "name the data folder")


class LiveTest(TestCase):
    def setUp(self):
        super().setUp()
        self.made = self.make_run(steps=1000000)
        self.nodes = [self.running(self.made.start(i, "--checkpoint-every", 5)) for i in range(3)]

    def await_checkpoint(self, index):
        """Reads events until the node has written a state."""
        self.nodes[index].wait_for("stdout", lambda _: kept(self.made.data_dir(index)))

    def test_a_running_a_stopped_and_a_killed_node(self):
        for i in range(3):
            self.await_checkpoint(i)
        running = export(self.made.data_dir(0), self.folder / "running")
        self.assertEqual((running["step"] + 1) % 5, 0)
        self.nodes[1].signal(signal.SIGKILL)
        self.nodes[0].signal(signal.SIGTERM)
        self.nodes[2].signal(signal.SIGTERM)
        self.assertEqual(self.nodes[0].finish(), 0)
        stopped = export(self.made.data_dir(0), self.folder / "stopped")
        report = self.nodes[0].report()
        # The state after the last step is kept, at whatever point the node was stopped.
        self.assertEqual(stopped["step"] + 1, report["steps"])
        self.assertEqual(stopped["state_root"], report["state_root"])
        self.assertGreaterEqual(stopped["step"], running["step"])
        self.nodes[1].finish()
        killed = export(self.made.data_dir(1), self.folder / "killed")
        self.assertEqual((killed["step"] + 1) % 5, 0)
        for name in ("running", "stopped", "killed"):
            safetensors_file.read(self.folder / name)


class FailureTest(TestCase):
    def test_a_state_that_cannot_be_written_is_a_failure(self):
        made = self.make_run(steps=8)
        made.data_dir(0).mkdir()
        (made.data_dir(0) / "checkpoints").write_text("a file in the way")
        nodes = [self.running(made.start(i)) for i in range(3)]
        self.assertEqual(nodes[0].finish(), 3)
        self.assertIn("cannot write", nodes[0].text["stderr"])
        self.assertTrue(nodes[0].report()["ok"])  # the run is
        self.assertNotIn("checkpoint", nodes[0].report())
        for node in nodes[1:]:
            self.assertEqual(node.finish(), 0, node.text["stderr"])

    def test_a_part_that_is_not_held_out(self):
        self.refused(2, ["swarm", "--model", "toy", "--evaluate-on", "training"], "'training'",
                     "test or validation")


if __name__ == "__main__":
    harness.main()
