"""docs/training.md, "From a Hugging Face model to a run and back": its commands as they stand there, on a small trained GPT-2.

Needs torch 2.5 or later and transformers, which Debian 12 has not (tests/python/export_test.py says how).
"""
import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SKIPPED = 77  # ctest reads it as "skipped"
try:
    import tokenizers
    import torch
    import transformers
except ImportError as error:
    print(f"NOT TESTED: from transformers to a run and back: {error}", file=sys.stderr)
    sys.exit(SKIPPED)
import numpy as np
import ostraka

ROOT = Path(__file__).resolve().parents[2]
TITLE = "### From a Hugging Face model to a run and back\n"
CONTEXT = 64
KINGS = ["The king of the north", "An old queen", "Nobody"]
DEEDS = ["vouches for the stranger", "counts the ships", "sees the river rise"]


def blocks():
    """(language, text) of the section's blocks of code."""
    text = (ROOT / "docs/training.md").read_text().split(TITLE, 1)[1].split("\n#", 1)[0]
    return re.findall(r"```(\w*)\n(.*?)```", text, re.S)


def book():
    return "".join(f"{KINGS[i * 7 % 3]} {DEEDS[i * i % 3]}, and {DEEDS[i * 5 % 3]}.\n" for i in range(1500))


def save_model(folder, text):
    """A GPT-2 of two layers with a tokenizer of its own, trained for a moment."""
    tokenizer = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = tokenizers.decoders.ByteLevel()
    tokenizer.train_from_iterator([text], tokenizers.trainers.BpeTrainer(
        vocab_size=300, initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet(), special_tokens=["<|endoftext|>"]))
    transformers.PreTrainedTokenizerFast(tokenizer_object=tokenizer, eos_token="<|endoftext|>").save_pretrained(folder)
    torch.manual_seed(1)
    torch.set_num_threads(1)
    model = transformers.GPT2LMHeadModel(transformers.GPT2Config(
        vocab_size=300, n_positions=CONTEXT, n_embd=32, n_layer=2, n_head=2, bos_token_id=0, eos_token_id=0, resid_pdrop=0,
        embd_pdrop=0, attn_pdrop=0))
    ids = torch.tensor(tokenizer.encode(text).ids)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.003)
    for step in range(40):
        rows = ids[step * CONTEXT * 4:(step + 1) * CONTEXT * 4].reshape(4, CONTEXT)
        model(rows, labels=rows).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    model.save_pretrained(folder)
    return ids


def loss_of(folder, ids):
    model = transformers.AutoModelForCausalLM.from_pretrained(folder).eval()
    rows = ids[-20 * CONTEXT:].reshape(20, CONTEXT)
    with torch.no_grad():
        return float(model(rows, labels=rows).loss)


class RoundTripTest(unittest.TestCase):
    def test_the_section_as_it_stands(self):
        found = blocks()
        self.assertEqual([language for language, _ in found], ["python", "", "python"])
        lines = [line for _, text in found for line in text.splitlines() if line.strip()]
        self.assertLessEqual(len(lines), 20)
        with tempfile.TemporaryDirectory() as folder:
            text = book()
            (Path(folder) / "book.txt").write_text(text)
            ids = save_model(Path(folder) / "MODEL", text)
            environment = {**os.environ, "PATH": f"{Path(os.environ['OSTRAKA']).parent}:{os.environ['PATH']}"}
            said = []
            for language, block in found:
                command = [sys.executable, "-c", block] if language else ["bash", "-e", "-c", block]
                ended = subprocess.run(command, cwd=folder, env=environment, capture_output=True, text=True, timeout=500)
                self.assertEqual(ended.returncode, 0, f"{block}\n{ended.stdout}\n{ended.stderr}")
                said.append(ended.stdout)
            self.assertIn("as the run sealed it", said[1])
            self.assertIn("banned", said[1])
            self.assertRegex(said[2], f"Nobody ({'|'.join(DEEDS)})")
            before, after = loss_of(Path(folder) / "MODEL", ids), loss_of(Path(folder) / "trained", ids)
            self.assertLess(after, before - 0.2, "fine-tuning ends below where it began")
            tensors = [transformers.AutoModelForCausalLM.from_pretrained(Path(folder) / name).state_dict() for name in ("MODEL", "trained")]
            self.assertEqual(tensors[0].keys(), tensors[1].keys())
            self.assertTrue(any(not np.array_equal(tensors[0][name], tensors[1][name]) for name in tensors[0]))


if __name__ == "__main__":
    unittest.main(verbosity=2)
