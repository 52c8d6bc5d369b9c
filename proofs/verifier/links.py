"""Links into a run, as `ostraka link` and `ostraka invite` print them (docs/evidence.md, 6)."""
import base64
import binascii
import json
import os

import messages
from canonical import Refused, decode
from frames import Malformed

SCHEME, MOST_BYTES = "ostraka:", 2 << 20


def bytes_of(text):
    return base64.b64decode(text + "=" * (-len(text) % 4), altchars=b"-_", validate=True)


def text_of(link_or_file):
    if link_or_file.startswith(SCHEME):
        return link_or_file
    if os.path.isdir(link_or_file):  # of a node that came by it
        link_or_file = os.path.join(link_or_file, "invite.json")
    with open(link_or_file, encoding="utf-8") as file:
        return file.read(2 * MOST_BYTES).strip()


def read(link_or_file):
    """The manifest's bytes, and the block from which on its members judge, or None. Raises Malformed, OSError."""
    try:
        text = text_of(link_or_file)
        if text.startswith(SCHEME):
            text = bytes_of(text[len(SCHEME):]).decode()
        link = json.loads(text)
        anchor = bytes_of(link["anchor"])
        return link["manifest"].encode(), decode(messages.BLOCK, anchor) if anchor else None
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError, binascii.Error, Refused) as problem:
        raise Malformed(f"the link cannot be read: {type(problem).__name__}: {problem}") from None
