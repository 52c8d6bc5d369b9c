"""Data in files: training on them, and the errors for a peer with other files."""
import hashlib
import json
import struct

import golden_tokenizers
import harness
import image_files
from harness import TestCase, expect_ok, needs_torch


class TrainTest(TestCase):
    def swarm(self, model, *options):
        return json.loads(expect_ok("swarm", "--peers", 4, "--byzantine", 0, "--attack", "none",
                                    "--model", model, "--evaluate-every", 0, "--json", *options))

    @needs_torch
    def test_cnn_on_mnist_files(self):
        image_files.write_mnist(self.folder / "mnist", 1200, 200, compressed=True)
        result = self.swarm("cnn", "--data", f"mnist:{self.folder / 'mnist'}", "--steps", 60,
                            "--learning-rate", 0.3)
        self.assertEqual(result["parameters"], 105866)
        # After 30 steps some initial parameters brought 0.445.
        self.assertGreater(result["metric"]["value"], 0.5)

    @needs_torch
    def test_cnn_on_cifar10_files(self):
        image_files.write_cifar10(self.folder / "cifar", 200)
        result = self.swarm("cnn", "--data", f"cifar10:{self.folder / 'cifar'}", "--steps", 15,
                            "--learning-rate", 0.3)
        self.assertEqual(result["parameters"], 136874)
        self.assertTrue(result["state_roots_equal"])

    def test_mlp_on_a_text(self):
        text = self.folder / "text"
        text.write_text("Nobody vouches for anybody here. " * 200)
        result = self.swarm("mlp", "--data", f"text:{text}", "--steps", 60, "--learning-rate", 0.1)
        self.assertGreater(result["metric"]["value"], 0.9)


class OtherDataTest(TestCase):
    """Every check runs before the node contacts any peer, so it never trains on other data."""

    def setUp(self):
        super().setUp()
        self.mnist = self.folder / "mnist"
        image_files.write_mnist(self.mnist, 300, 100)
        self.made = self.make_run(model="softmax", options=["--data", f"mnist:{self.mnist}"])

    def node(self, *options):
        return ["node", self.made.manifest, "--key", self.made.key(0), "--data-dir",
                self.folder / "data", *options]

    def test_one_changed_pixel_is_refused(self):
        other = self.folder / "other"
        image_files.write_mnist(other, 300, 100)
        images = bytearray((other / "train-images-idx3-ubyte").read_bytes())
        images[-1] ^= 1
        (other / "train-images-idx3-ubyte").write_bytes(images)
        shown = json.loads(expect_ok("run", "show", "--json", self.made.manifest))
        wanted = shown["data"].removeprefix("mnist@")[:16]
        self.refused(2, self.node("--data", f"mnist:{other}"), "the run trains on mnist of hash "
                     + wanted, "this copy has", str(other), "get theirs")
        self.assertFalse((self.folder / "data").exists())

    def test_no_folder_and_other_names(self):
        self.refused(2, self.node(), "the run trains on mnist", "--data mnist:DIR")
        self.refused(2, self.node("--data", f"cifar10:{self.mnist}"), "the run trains on mnist")
        self.refused(2, self.node("--data", "mnist"), "mnist:DIR")
        self.refused(3, self.node("--data", f"mnist:{self.folder}"), "train-images-idx3-ubyte",
                     "is not there")

    def test_wrong_files_are_named(self):
        labels = self.mnist / "train-labels-idx1-ubyte"
        whole = labels.read_bytes()
        init = ["run", "init", "--out", self.folder / "new.toml", "--model", "softmax", "--data",
                f"mnist:{self.mnist}", "--member", self.made.ids[0], "--member", self.made.ids[1]]
        for data, reason in [(whole[:-1], "cut short"), (whole + b"\0", "too long"),
                             (whole[:-1] + b"\x0a", "label 10 of image 199 is out of range"),
                             (b"\0\0\x08\x03" + whole[4:], "wrong magic number 2051")]:
            labels.write_bytes(data)
            self.refused(2, init, f"{labels}: ", reason)
        labels.unlink()
        self.refused(3, init, str(labels), "is not there")
        self.assertFalse((self.folder / "new.toml").exists())

    def test_check_and_pack_say_in_one_line_what_is_wrong_with_a_path(self):
        empty = self.folder / "empty"
        empty.touch()
        (self.folder / "short").write_text("Too short.")
        none = self.folder / "none"
        packed = self.folder / "packed"
        for path, code, reason in [(none, 3, "does not exist"), (self.folder, 3, "is a folder"), (empty, 2, "is empty"),
                                   ("/dev/zero", 3, "is no regular file")]:
            self.refused(code, ["data", "pack", path, "--out", packed], f"{path} {reason}")
            for name in ("text", "tokens"):
                self.refused(code, ["data", "check", f"{name}:{path}"], f"{path} {reason}")
        self.refused(2, ["data", "pack", self.folder / "short", "--out", packed], "short: too short")
        self.assertFalse(packed.exists())
        book = self.folder / "book.txt"
        book.write_text("Some words. " * 500)
        harness.expect_ok("data", "pack", book, "--out", packed, "--context", 16)
        self.refused(2, ["data", "check", f"tokens:{packed}", "--context", 17], "a context of 16: leave out --context")
        self.refused(2, ["data", "check", f"text:{book}", "--context", 16], "--context is of tokens")
        whole = packed.read_bytes()
        packed.write_bytes(b"O" + whole[1:])
        self.refused(2, ["data", "check", f"tokens:{packed}"], "is no packed file")
        for name in ("mnist", "cifar10"):
            self.refused(3, ["data", "check", f"{name}:{none}"], f"{none} does not exist", "give the folder")
            self.refused(3, ["data", "check", f"{name}:{empty}"], f"{empty} is no folder")
            self.refused(3, ["data", "check", f"{name}:{self.folder}"], "is not there, nor with .gz")
        (self.mnist / "train-labels-idx1-ubyte").write_bytes(b"")
        self.refused(2, ["data", "check", f"mnist:{self.mnist}"], "train-labels-idx1-ubyte is empty")

    def test_a_manifest_names_its_data(self):
        text = self.made.manifest.read_text()
        name = json.loads(expect_ok("run", "show", "--json", self.made.manifest))["data"]
        self.assertRegex(name, r"\Amnist@[0-9a-f]{64}\Z")
        self.assertNotIn(str(self.folder), text)  # where a member has its copy is its own business
        for bad in ("mnist", "mnist@", name[:-1], "mnist@" + 64 * "0", f"mnist:{self.mnist}"):
            self.made.manifest.write_text(text.replace(name, bad))
            self.refused(2, ["run", "check", self.made.manifest], "data '" + bad[:7])


class TokenizerTest(TestCase):
    def pack(self, *options):
        return ["data", "pack", self.folder / "text", "--tokenizer", self.folder / "tokenizer.json", "--context", 1, *options]

    def written(self, text, tokenizer):
        (self.folder / "text").write_bytes(text.encode())
        (self.folder / "tokenizer.json").write_text(json.dumps(tokenizer))

    def test_records_are_of_the_ids_that_the_library_gives(self):
        for case in golden_tokenizers.cases():
            text, ids = max(case["texts"], key=lambda pair: len(pair[1]))
            self.assertGreater(len(ids), 50)
            self.written(text, case["tokenizer"])
            packed = self.folder / case["name"]
            said = json.loads(expect_ok(*self.pack("--out", packed, "--json")))
            line, records = packed.read_bytes().split(b"\n", 1)
            vocabulary = 1 + max(case["tokenizer"]["model"]["vocab"].values())
            vocabulary = max([vocabulary, *(1 + each["id"] for each in case["tokenizer"]["added_tokens"])])
            trained = len(ids) - 2 * (len(ids) // 10)
            self.assertEqual(line.split()[:6], [b"ostraka-tokens", b"2", b"u16", str(vocabulary).encode(), b"1", str(trained - 1).encode()])
            wide = struct.unpack(f"<{2 * (trained - 1)}H", records[:4 * (trained - 1)])
            self.assertEqual([*wide[::2], wide[-1]], ids[:trained], case["name"])
            # The tokenizer travels, and its name with it; that of the data does not change.
            copy = self.folder / f"{case['name']}.tokenizer.json"
            self.assertEqual(copy.read_text(), json.dumps(case["tokenizer"]))
            self.assertEqual(said["tokenizer"]["file"], str(copy))
            hashed = hashlib.blake2b(copy.read_bytes(), digest_size=32, person=b"tokenizer/1").hexdigest()
            self.assertEqual(said["tokenizer"]["hash"], hashed)
            self.assertEqual(json.loads(expect_ok("data", "check", f"tokens:{packed}", "--json")), said)
            self.assertIn(hashed, expect_ok("data", "check", f"tokens:{packed}"))
            copy.unlink()
            del said["tokenizer"]
            self.assertEqual(json.loads(expect_ok("data", "check", f"tokens:{packed}", "--json")), said)

    def test_what_cannot_be_packed_is_refused_in_one_line_and_leaves_nothing(self):
        case = golden_tokenizers.cases()[0]
        self.written("word " * 100, case["tokenizer"])
        out = self.folder / "out"
        text = self.folder / "text"
        for bad, reason in [(b"word", "text: too short: "), (b"caf\xe9 " * 100, "text: is no UTF-8 at byte 3"), (b"", "is empty")]:
            text.write_bytes(bad)
            self.refused(2, self.pack("--out", out), reason)
        text.write_text("word " * 100)
        other = self.folder / "other"
        other.write_text(json.dumps({"model": {"type": "Unigram", "vocab": [["a", -1.0]]}}))
        for tokenizer, code, reason in [(other, 2, "ostraka.data.pack in Python packs by any tokenizer"), (text, 2, "is no JSON at byte"),
                                        (self.folder, 3, "is no file"), (self.folder / "none", 3, "is no file")]:
            self.refused(code, ["data", "pack", text, "--tokenizer", tokenizer, "--out", out], str(tokenizer), reason)
        self.refused(2, ["data", "pack", text, "--tokenizer", self.folder / "tokenizer.json", "--context", 70000, "--out", out], "1 to 65536")
        self.refused(3, self.pack("--out", self.folder / "none" / "out"), "cannot create")
        self.assertFalse(out.exists())
        copy = self.folder / "out.tokenizer.json"
        self.assertFalse(copy.exists())
        copy.write_text("mine")
        self.refused(2, self.pack("--out", out), "exists and is kept")
        self.assertEqual(copy.read_text(), "mine")
        copy.unlink()
        expect_ok(*self.pack("--out", out))
        self.refused(2, self.pack("--out", out), "exists and is kept")
        text.write_bytes(out.read_bytes())
        self.refused(2, self.pack("--out", self.folder / "again"), "is packed already")


if __name__ == "__main__":
    harness.main()
