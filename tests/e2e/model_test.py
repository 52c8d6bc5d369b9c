"""`ostraka model`: graph files of models, and what they cost."""
import hashlib
import json
import struct
import unittest

import harness
from harness import TestCase, expect_ok

MODELS = ["gpt", "llama", "albert", "vit", "mlp", "softmax"]


def write_tensors(path, tensors):
    """A safetensors file of zeros, as another program would write it: {name: shape}."""
    header, data = {}, b""
    for name, shape in tensors.items():
        count = 1
        for extent in shape:
            count *= extent
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [len(data), len(data) + 4 * count]}
        data += bytes(4 * count)
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


class ModelTest(TestCase):
    def make(self, model, *options):
        path = self.folder / f"{model}.graph"
        expect_ok("model", "make", model, "--out", path, *options)
        return path

    def show(self, path, *options):
        return json.loads(expect_ok("model", "show", path, "--json", *options))

    def test_every_model_is_made_and_shown(self):
        for model in MODELS:
            with self.subTest(model=model):
                path = self.make(model)
                shown = self.show(path)
                self.assertEqual(shown["graph"], hash_of_graph(path.read_bytes()))
                self.assertEqual(shown["parameter_count"],
                                 sum(count_of(each["type"]) for each in shown["parameters"]))
                self.assertGreater(shown["flops"], shown["parameter_count"])
                self.assertGreater(shown["peak_bytes"], 8 * shown["parameter_count"])
                self.assertIn("one gradient:", expect_ok("model", "show", path))

    def test_one_command_makes_one_file(self):
        first = self.make("gpt").read_bytes()
        told = expect_ok("model", "make", "gpt", "--out", self.folder / "again")
        self.assertIn("graph " + hash_of_graph(first), told)
        self.assertEqual((self.folder / "again").read_bytes(), first)
        self.refused(2, ["model", "make", "gpt", "--out", self.folder / "again"], "exists and is kept")

    def test_tables_of_llama_lie_beside_its_graph(self):
        path = self.make("llama")
        tables = self.folder / "llama.graph.constants.safetensors"
        length, = struct.unpack("<Q", tables.read_bytes()[:8])
        header = json.loads(tables.read_bytes()[8:8 + length])
        for constant in self.show(path)["constants"]:
            begin, end = header[constant["name"]]["data_offsets"]
            values = tables.read_bytes()[8 + length + begin:8 + length + end]
            self.assertEqual(constant["hash"], hash_of_constant(values))

    def test_lora_trains_factors_beside_a_frozen_base(self):
        base = self.show(self.make("gpt", "--layers", 1))
        weights = self.folder / "base.safetensors"
        write_tensors(weights, {each["name"]: shape_of(each["type"]) for each in base["parameters"]})
        path = self.folder / "lora.graph"
        expect_ok("model", "make", "gpt", "--layers", 1, "--lora", 4, "--base", weights, "--out", path)
        lora = self.show(path)
        self.assertEqual({each["name"] for each in lora["constants"]},
                         {each["name"] for each in base["parameters"]})
        self.assertTrue(all(".lora_" in each["name"] for each in lora["parameters"]))
        self.refused(2, ["model", "make", "gpt", "--lora", 4, "--out", self.folder / "x"],
                     "--lora and --base belong together")
        self.refused(2, ["model", "make", "gpt", "--lora", 4, "--base", weights, "--out", self.folder / "x"],
                     "the base has no tensor h.1.ln_1.weight")

    def test_limits_are_checked_before_anything_runs(self):
        path = self.make("gpt")
        self.refused(2, ["model", "show", path, "--max-memory", "1M"], "bytes, more than the limit of 1048576")
        self.refused(2, ["model", "show", path, "--max-flops", 1000], "more than the limit of 1000")
        huge = self.make("softmax", "--features", 16_000_000, "--classes", 100)
        self.refused(2, ["model", "show", huge], "more than the limit of 8589934592")

    def test_wrong_files_are_refused_in_one_line(self):
        path = self.make("softmax")
        text = path.read_text()
        for wrong, reason in [(text + "x\n", "line 9: nothing follows the loss"),
                              (text.replace("= linear", "= save"), "'save' is no operation of ostraka ops/2"),
                              (text.replace("f32[8,10] = linear", "f32[8,11] = linear"), "%1: its type is f32[8,10]"),
                              (text.replace("\n", "\r"), "line 1: does not end in a newline"),
                              ("\n" * 5_000_000, "at most 4194304 bytes")]:
            with self.subTest(reason=reason):
                file = self.folder / "wrong.graph"
                file.write_text(wrong, newline="")
                self.refused(2, ["model", "show", file], "wrong.graph: ", reason)
        windows = self.folder / "windows.graph"
        windows.write_text(text.replace("\n", "\r\n"), newline="")
        self.assertIn("one gradient:", expect_ok("model", "show", windows))
        self.refused(3, ["model", "show", self.folder / "nothing"], "cannot be opened")
        self.refused(2, ["model", "make", "gpt", "--lora", 4, "--base", self.folder, "--out", self.folder / "x"],
                     "it is no file")
        self.refused(2, ["model", "make", "gpt", "--lora", 100_000_000, "--base", path, "--out", self.folder / "x"], "safetensors")
        self.refused(2, ["model", "make", "mlp", "--layers", 7, "--out", self.folder / "x"], "model mlp has no --layers: leave it out")
        self.refused(2, ["model", "make", "llama", "--context", 1_000_000, "--out", self.folder / "x"], "context of a model is at most 65536")
        self.refused(2, ["model", "make", "gtp", "--out", self.folder / "x"], "did you mean 'gpt'?")

    def test_a_damaged_base_is_refused(self):
        for wrong in [b"", b"12345678", struct.pack("<Q", 1 << 60), struct.pack("<Q", 2) + b"[]",
                      struct.pack("<Q", 45) + b'{"a":{"dtype":"F32","shape":[9],"data_offsets":[0,4]}}'[:45]]:
            with self.subTest(wrong=wrong):
                file = self.folder / "base"
                file.write_bytes(wrong)
                self.refused(2, ["model", "make", "gpt", "--lora", 1, "--base", file, "--out", self.folder / "x"],
                             "holds no weights as safetensors")


def shape_of(text):
    return json.loads(text[3:])


def count_of(text):
    count = 1
    for extent in shape_of(text):
        count *= extent
    return count


def blake2b(domain, data):
    return hashlib.blake2b(data, digest_size=32, person=domain.ljust(16, b"\0")).hexdigest()


def hash_of_graph(data):
    return blake2b(b"graph/1", data)


def hash_of_constant(data):
    return blake2b(b"constant/1", data)


if __name__ == "__main__":
    harness.main()
