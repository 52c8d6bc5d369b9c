"""Tokenizers with texts and the ids that the library `tokenizers` gives them (tests/unit/train/tokens/write_golden.py)."""
import json
from pathlib import Path


def cases():
    """Each with name, tokenizer (what stands in a tokenizer.json) and texts, pairs of a text and its ids."""
    return json.loads((Path(__file__).resolve().parents[1] / "vectors" / "tokenizers.json").read_text())["cases"]
