"""Links into a run, as `ostraka link` prints them (docs/evidence.md, 6)."""
import base64
import json
import os
import re

import messages
from canonical import Refused, decode
from frames import Malformed
from hashing import hashed

SCHEME, MOST_BYTES, MOST_PEERS = "ostraka:", 2 << 20, 256
PEER = re.compile("[0-9a-f]{64}")
FORMAT, UNCHECKED = "ostraka invite 2", "ostraka invite 1"
FIELDS = {"addresses", "anchor", "constants", "format", "graph", "manifest"}
PASS = {"by_moderator", "holder_seed", "moderator", "until", "uses"}


def bytes_of(text):
    """Base64url without padding, of which each value has one text."""
    found = base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if base64.urlsafe_b64encode(found).rstrip(b"=").decode() != text:
        raise ValueError("no base64url")
    return found


def tidied(content):
    """A link without what mail and chats put around it and into it; a file without a mark and CRLF (ReadInvite)."""
    plain = content.removeprefix("\ufeff".encode())
    inner = plain.strip(b" \t\r\n\"'<>")
    if inner.startswith(SCHEME.encode()):
        return inner.translate(None, b" \t\r\n")
    lines = plain.replace(b"\r\n", b"\n")
    text = lines.rstrip(b" \t\n")
    return lines if text == lines else text + b"\n"


def content_of(link_or_file):
    """A link, or the bytes of the file that holds it. Raises OSError."""
    link = tidied(os.fsencode(link_or_file))
    if link.startswith(SCHEME.encode()):
        return link
    if os.path.isdir(link_or_file):  # of a node that came by it
        link_or_file = os.path.join(link_or_file, "invite.json")
    with open(link_or_file, "rb") as file:
        content = file.read(MOST_BYTES + 1)
    return content if len(content) > MOST_BYTES else tidied(content)


def text_of(link):
    return json.dumps(link, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def fields_of(content):
    if len(content) > MOST_BYTES:
        raise ValueError("longer than 2 MiB")
    text = content.decode().removesuffix("\n")
    if text.startswith(SCHEME):
        text = bytes_of(text[len(SCHEME):]).decode()
    link = json.loads(text)
    if not isinstance(link, dict) or link.get("format") not in (FORMAT, UNCHECKED):
        raise ValueError("not of this format")
    fields = FIELDS | {"check"} if link["format"] == FORMAT else FIELDS
    if set(link) not in (fields, fields | PASS):
        raise ValueError("other fields than those of its format")
    texts = [value for name, value in link.items() if name not in ("addresses", "until", "uses")]
    numbers = [link[name] for name in ("until", "uses") if name in link]
    if not (all(isinstance(value, str) for value in texts) and all(type(value) is int for value in numbers)
            and isinstance(link["addresses"], dict)):
        raise ValueError("a field of another type")
    if len(link["addresses"]) > MOST_PEERS or not all(
            PEER.fullmatch(peer) and isinstance(address, str) for peer, address in link["addresses"].items()):
        raise ValueError("addresses that are none")
    # One text for each link.
    if text_of(link) != text:
        raise ValueError("not as ostraka writes it")
    unchecked = {name: value for name, value in link.items() if name != "check"}
    if "check" in link and link["check"] != hashed("link/1", text_of(unchecked).encode()).hex():
        raise ValueError("damaged")
    bytes_of(link["constants"])
    return link


def read(link_or_file):
    """The manifest's bytes, and the block from which on its members judge, or None. Raises Malformed, OSError."""
    try:
        link = fields_of(content_of(link_or_file))
        anchor = bytes_of(link["anchor"])
        return link["manifest"].encode(), decode(messages.BLOCK, anchor) if anchor else None
    except (ValueError, RecursionError, Refused) as problem:
        raise Malformed(f"the link cannot be read: {type(problem).__name__}: {problem}") from None
