"""ostraka.data: what it writes is what another reader reads, for any cut, width and tokenizer."""
import collections
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "proofs" / "verifier"))
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


if __name__ == "__main__":
    unittest.main(verbosity=2)
