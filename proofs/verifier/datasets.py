"""The data of a run by their name in its manifest."""
import os

import columns
import images
import texts

DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../node/train/data/digits.csv")
NAMES = ("digits", "mnist", "cifar10", "text", "tokens", "examples", "stream")


def read(name, place, context):
    """`place`: a file or folder, or with what it holds before it, as `ostraka node --data` takes it; `context`: tokens of a record, for
    a text that is not packed. Raises BadData, OSError; ValueError for a name that is none or a place that is missing."""
    kind, _, rest = (place or "").partition(":")
    if kind in NAMES:
        place = rest
    if name == "digits":
        return images.digits(place or DIGITS)
    if name not in NAMES or not place:
        raise ValueError(f"give the run's data, {name}")
    readers = {"mnist": images.mnist, "cifar10": images.cifar10, "text": texts.text, "examples": columns.read,
               "stream": columns.Stream}
    return texts.records(place, context) if name == "tokens" else readers[name](place)
