"""ostraka.data: what it writes is what another reader reads, for any cut, width and tokenizer."""
import collections
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "proofs" / "verifier"))
import columns  # noqa: E402
import texts  # noqa: E402  of the second verifier, which shares no code with the module

import ostraka  # noqa: E402


def of_words(text):
    return [len(word) for word in text.split()]


class OfTokenizers:
    """As tokenizers.Tokenizer shows itself."""

    def encode(self, text, add_special_tokens=True):
        assert not add_special_tokens
        return collections.namedtuple("Encoding", "ids")(of_words(text))

    def get_vocab_size(self):
        return 50_257

    def token_to_id(self, name):
        return 50_256 if name == "<|endoftext|>" else None

    def to_str(self):
        return '{"model": "words"}'


class OfTransformers:
    eos_token_id = 7
    backend_tokenizer = OfTokenizers()

    def __call__(self, text, add_special_tokens=True):
        assert not add_special_tokens
        return {"input_ids": of_words(text)}

    def __len__(self):
        return 100_000


class PackTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.path = self.folder / "book.tokens"

    def read(self):
        return texts.records(str(self.path), None)

    def expect(self, tokens, context, vocabulary):
        """The file's records are those of the rule, cut once more here."""
        data = self.read()
        self.assertEqual((data.shape[2], data.classes), (context, vocabulary))
        tenth = len(tokens) // 10
        trained = tokens[:len(tokens) - 2 * tenth]
        count = (len(trained) - 1) // context
        rows = np.array([trained[i * context:i * context + context + 1] for i in range(count)])
        np.testing.assert_array_equal(data.training.values, rows[:, :-1])
        np.testing.assert_array_equal(data.training.labels, rows[:, -1])

    def test_tokens_come_back_with_the_end_of_each_text(self):
        lines = [f"{'a ' * (i % 5)}{'bb ' * (i % 3)}ccc" for i in range(100)]
        made = ostraka.data.pack(iter(lines), OfTokenizers(), self.path, context=4)
        tokens = [token for line in lines for token in [*of_words(line), 50_256]]
        self.expect(tokens, 4, 50_257)
        self.assertEqual((made["tokens"], made["vocabulary"], made["context"]), (len(tokens), 50_257, 4))
        self.assertEqual(Path(f"{self.path}.tokenizer.json").read_text(), '{"model": "words"}')
        self.assertEqual(sorted(file.name for file in self.folder.iterdir()), ["book.tokens", "book.tokens.tokenizer.json"])

    def test_a_large_vocabulary_takes_four_bytes(self):
        ostraka.data.pack(["a bb ccc"] * 50, OfTransformers(), self.path, context=3)
        self.assertTrue(self.path.read_bytes().startswith(b"ostraka-tokens 2 u32 100000 3 "))
        self.expect([1, 2, 3, 7] * 50, 3, 100_000)

    def test_any_function_is_a_tokenizer(self):
        ostraka.data.pack(["x yy"] * 40, of_words, self.path, context=2, vocabulary=3)
        self.expect([1, 2] * 40, 2, 3)
        self.assertFalse(Path(f"{self.path}.tokenizer.json").exists())

    def test_bare_integers_of_other_programs(self):
        tokens = np.random.default_rng(1).integers(0, 50_257, 5000)
        tokens.astype("<u2").tofile(self.folder / "train.bin")
        made = ostraka.data.from_bin(self.folder / "train.bin", self.path, vocabulary=50_257, context=16)
        self.expect(tokens.tolist(), 16, 50_257)
        self.assertLessEqual(made["test"], 256)

    def test_what_cannot_be_packed_leaves_nothing(self):
        def refused(reason, kind=ValueError, texts=("a bb",) * 40, tokenizer=of_words, **options):
            with self.assertRaisesRegex(kind, reason):
                ostraka.data.pack(texts, tokenizer, self.path, **{"context": 2, "vocabulary": 9, **options})
            self.assertFalse([file for file in self.folder.iterdir() if file.name != "kept.tokens"])
        refused("too few tokens: 2, and records of 3 need at least 30", texts=["a bb"])
        refused("gave the id 4, and its vocabulary is 4", texts=["dddd"], vocabulary=4)
        refused("gave the id -1", tokenizer=lambda text: [-1])
        refused("vocabulary=", vocabulary=None)
        refused("vocabulary must be", vocabulary=0)
        refused("context must be 1 to 65536", context=0)

        def broken():
            yield "a bb"
            raise OSError("the source ended")
        refused("the source ended", OSError, texts=broken())

    def test_a_file_that_is_there_stays_unless_told_otherwise(self):
        self.path.write_text("mine")
        with self.assertRaisesRegex(FileExistsError, "overwrite=True"):
            ostraka.data.pack(["a bb"] * 40, of_words, self.path, context=2, vocabulary=9)
        self.assertEqual(self.path.read_text(), "mine")
        ostraka.data.pack(["a bb"] * 40, of_words, self.path, context=2, vocabulary=9, overwrite=True)
        self.expect([1, 2] * 40, 2, 9)



class PackExamplesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.path = Path(folder.name) / "rows.examples"

    def read(self):
        return columns.read(str(self.path))

    def test_columns_come_back(self):
        draw = np.random.default_rng(1)
        rows = {"tokens": draw.integers(0, 30_000, (40, 5)), "targets": draw.integers(-1, 3, 40), "big": draw.integers(0, 1 << 30, (40, 1)),
                "image": draw.integers(0, 256, (40, 3, 2, 2), np.uint8), "weights": draw.standard_normal((40, 2))}
        held = {name: values[:4] for name, values in rows.items()}
        made = ostraka.data.pack_examples(rows, self.path, pixels=["image"], integers={"tokens": (0, 30_522), "targets": (-1, 3)},
                                          validation=held, test=held)
        self.assertEqual(made["columns"][:2], ["tokens u16[5] 0 30522", "targets u8[] -1 3"])
        self.assertEqual([line.split()[1] for line in made["columns"][2:]], ["u32[1]", "p8[3,2,2]", "f32[2]"])
        self.assertEqual((made["training"], made["validation"], made["test"]), (40, 4, 4))
        found = self.read().named_inputs(list(range(40)))
        for name in ("tokens", "targets", "big"):
            np.testing.assert_array_equal(found[name].reshape(rows[name].shape), rows[name])
        np.testing.assert_array_equal(found["weights"], rows["weights"].astype(np.float32))
        pixels = np.float32(2) * (rows["image"].astype(np.float32) / np.float32(255)) - np.float32(1)
        np.testing.assert_array_equal(found["image"].reshape(pixels.shape), pixels)

    def test_a_file_known_to_the_node(self):
        # tests/unit/train/examples_file_test.cpp reads the same file and has its hash.
        rows = {"tokens": np.array([[0, 1, 2], [7, 8, 9], [9, 10, 11], [30519, 30520, 30521]]), "targets": np.array([-1, 0, 1, 2]),
                "pixels": np.array([[0, 255], [128, 255], [255, 255], [51, 255]], np.uint8).reshape(4, 1, 2),
                "weights": np.array([[1, -1], [2, -2], [-0.0, 0.0], [0.5, -0.5]])}
        part = lambda begin, end: {name: values[begin:end] for name, values in rows.items()}
        ostraka.data.pack_examples(part(0, 2), self.path, pixels=["pixels"], integers={"tokens": (0, 30_522), "targets": (-1, 3)},
                                   validation=part(2, 3), test=part(3, 4))
        self.assertEqual(self.read().hash.hex(), "3067df6f178f7ddbed175f6eb423e0f1a4ed933be7634f814849acdba9ad129c")

    def test_rows_as_dicts_and_held_out_rows_whatever_their_order(self):
        rows = [{"x": [i, i + 1], "targets": i % 3} for i in range(100)]
        made = ostraka.data.pack_examples(iter(rows), self.path)
        self.assertEqual((made["training"], made["validation"], made["test"]), (80, 10, 10))
        first = self.path.read_bytes()
        ostraka.data.pack_examples(rows[::-1], self.path, overwrite=True)
        begin = first.index(b"3\n", first.index(b"targets")) + 2
        table = lambda content: np.frombuffer(content, np.uint8, offset=begin).reshape(100, 3).tolist()
        one, other = table(first), table(self.path.read_bytes())
        for a, b in ((0, 80), (80, 90), (90, 100)):
            self.assertEqual(sorted(one[a:b]), sorted(other[a:b]))
        self.assertNotEqual(one, other)

    def test_what_cannot_be_packed_leaves_nothing(self):
        def refused(reason, rows, kind=ValueError, **options):
            with self.assertRaisesRegex(kind, reason):
                ostraka.data.pack_examples(rows, self.path, **options)
            self.assertFalse(list(self.path.parent.iterdir()))
        twenty = np.arange(20)
        refused("too few rows", {"x": np.arange(9)})
        refused("there are no rows", [])
        refused("equally many rows", {"x": twenty, "y": np.arange(3)})
        refused("equally many rows", {})
        refused("row 1 has the keys", [{"x": 1}, {"y": 1}])
        refused("pad them to one length", [{"x": [1]}, {"x": [1, 2]}])
        refused("values from -2 to 17", {"x": twenty - 2})
        refused("values from 0 to 19; integers", {"x": twenty}, integers={"x": (0, 19)})
        refused("no column is named y", {"x": twenty}, integers={"y": (0, 9)})
        refused("no column is named y", {"x": twenty}, pixels=["y"])
        refused("pixels are uint8", {"x": twenty}, pixels=["x"])
        refused("no finite float32", {"x": twenty * 1e38})
        refused("integers and floats", {"x": twenty.astype(str)})
        refused("letters, digits", {"x y": twenty})
        refused("both validation= and test=", {"x": twenty}, test={"x": twenty})
        refused("differs between the parts", {"x": twenty}, test={"y": twenty}, validation={"x": twenty})
        self.path.write_text("mine")
        with self.assertRaisesRegex(FileExistsError, "overwrite=True"):
            ostraka.data.pack_examples({"x": twenty}, self.path)

    def test_chunks_come_back(self):
        folder = self.path.parent / "chunks"
        draw = np.random.default_rng(1)
        rows = [{"x": draw.integers(0, 300, 4), "targets": i % 3, "w": np.float32(i)} for i in range(1000)]
        ranges = {"x": (0, 300), "targets": (-1, 3)}
        made = ostraka.data.pack_stream(iter(rows), folder, integers=ranges, chunk_bytes=300, file_chunks=7, shuffle=50)
        self.assertEqual(made["columns"], ["x u16[4] 0 300", "targets u8[] -1 3", "w f32[]"])
        self.assertEqual(made["chunk_rows"], 300 // 13)
        self.assertEqual(made["training"], made["chunks"] * made["chunk_rows"])
        self.assertTrue(made["validation"] and made["test"])
        read = columns.Stream(str(folder))
        self.assertEqual((read.count, read.chunks), (made["training"], made["chunks"]))
        found = read.named_inputs(range(read.count))
        places = found["w"].reshape(-1).astype(int)
        self.assertEqual(len(set(places.tolist())), read.count)
        self.assertGreater(np.abs(places - np.arange(read.count)).max(), 20, "their order is drawn")
        for name in ("x", "targets"):
            np.testing.assert_array_equal(found[name].reshape(read.count, -1), np.array([rows[i][name] for i in places]).reshape(read.count, -1))
        self.assertEqual(sorted(path.name for path in folder.iterdir()),
                         ["stream.%05d" % i for i in range((made["chunks"] + 6) // 7)] + ["stream.index"])
        again = ostraka.data.pack_stream(iter(rows), self.path.parent / "again", integers=ranges, chunk_bytes=300, file_chunks=7, shuffle=50)
        self.assertEqual(columns.Stream(again["folder"]).hash, read.hash)
        for wrong, reason in (({}, "say the range of column x"), ({"integers": {**ranges, "x": (0, 100)}}, "column x has values"),
                              ({"integers": ranges, "chunk_bytes": 1 << 20}, "too few rows"), ({"integers": ranges, "shuffle": 0}, "shuffle")):
            with self.assertRaisesRegex(ValueError, reason):
                ostraka.data.pack_stream(iter(rows), self.path.parent / "wrong", **wrong)
        with self.assertRaisesRegex(ValueError, "other columns"):
            ostraka.data.pack_stream([rows[0], {"x": [1, 2, 3, 4]}], self.path.parent / "wrong", integers=ranges)
        with self.assertRaisesRegex(FileExistsError, "holds data"):
            ostraka.data.pack_stream(iter(rows), folder, integers=ranges)

    def test_rows_of_tokens_overlap_by_one(self):
        rows = [row["tokens"].tolist() for row in ostraka.data.token_rows(["a bb ccc"] * 4, of_words, context=5, end=9)]
        self.assertEqual(rows, [[1, 2, 3, 9, 1, 2], [2, 3, 9, 1, 2, 3], [3, 9, 1, 2, 3, 9]])

    def test_masks_are_those_of_bert(self):
        tokens = np.tile(np.arange(5, 105), (200, 1))
        inputs, targets = ostraka.data.mask(tokens, mask_token=3, vocabulary=110, seed=1, special=[5, 6], copies=2)
        self.assertEqual(inputs.shape, (400, 100))
        tokens = np.tile(tokens, (2, 1))
        chosen = targets >= 0
        self.assertFalse(chosen[:, :2].any())
        np.testing.assert_array_equal(targets[chosen], tokens[chosen])
        np.testing.assert_array_equal(inputs[~chosen], tokens[~chosen])
        self.assertAlmostEqual(chosen[:, 2:].mean(), 0.15, delta=0.01)
        self.assertAlmostEqual((inputs[chosen] == 3).mean(), 0.8, delta=0.03)
        self.assertAlmostEqual((inputs[chosen] == tokens[chosen]).mean(), 0.1, delta=0.03)
        self.assertFalse((targets[:200] == targets[200:]).all(), "each copy has masks of its own")
        again, _ = ostraka.data.mask(tokens[:200], mask_token=3, vocabulary=110, seed=1, special=[5, 6], copies=2)
        np.testing.assert_array_equal(inputs, again)
        for wrong in ({"share": 0}, {"mask_token": 110}, {"vocabulary": 50}):
            with self.assertRaises(ValueError):
                ostraka.data.mask(tokens, **{"mask_token": 3, "vocabulary": 110, "seed": 1, **wrong})


if __name__ == "__main__":
    unittest.main(verbosity=2)
