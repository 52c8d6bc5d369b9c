"""Cap'n Proto messages in canonical form, read strictly and by tables: no Cap'n Proto needed.

Canonical (capnproto.org/encoding.html#canonicalization): one segment, objects in preorder right after
one another, sections without trailing zero words, no padding that is not zero. A reader that follows
pointers in that order and demands that each points to the next unread word has checked all of it.
On top of that, docs/wire.md: an empty list is a null pointer, and no field is unknown.
"""
import struct

WORD = 8


class Refused(Exception):
    """The bytes are no message of that struct; says why in one line."""


class Field:
    """Bits [at, at + width) of a struct's data section; values up to `most`."""

    def __init__(self, name, at, width, most=None):
        self.name, self.at, self.width = name, at, width
        self.most = (1 << width) - 1 if most is None else most


class Bytes:
    """A Data of `least`..`most` bytes, a multiple of `unit`."""

    def __init__(self, name, most, least=0, unit=1):
        self.name, self.most, self.least, self.unit = name, most, least, unit


def Id(name):
    return Bytes(name, 32, least=32)


def OptionalId(name):
    return Bytes(name, 32, unit=32)


def Ids(name, count):
    return Bytes(name, 32 * count, unit=32)


class Words:
    """A list of at most `most` UInt64."""

    def __init__(self, name, most):
        self.name, self.most = name, most


class Blobs:
    """A list of at most `most` Data of at most `size` bytes."""

    def __init__(self, name, most, size):
        self.name, self.most, self.size = name, most, size


class One:
    """A struct; `optional`: or a null pointer."""

    def __init__(self, name, struct_, optional=False):
        self.name, self.struct, self.optional = name, struct_, optional


class Many:
    """A list of at most `most` structs."""

    def __init__(self, name, struct_, most):
        self.name, self.struct, self.most = name, struct_, most


class Struct:
    """Fields of the data section, then pointers in their order. `check(value)` may raise Refused."""

    def __init__(self, name, fields=(), pointers=(), check=None):
        self.name, self.fields, self.pointers, self.check = name, fields, pointers, check
        self.mask = 0
        for field in fields:
            self.mask |= ((1 << field.width) - 1) << field.at


class _Reader:
    def __init__(self, data):
        if not data or len(data) % WORD:
            raise Refused("length is not a positive multiple of 8")
        self.data = data
        self.words = len(data) // WORD
        self.next = 0  # first word that no pointer has reached yet

    def word(self, index):
        return struct.unpack_from("<Q", self.data, index * WORD)[0]

    def take(self, count):
        begin = self.next
        if count > self.words - begin:
            raise Refused("points out of the message")
        self.next += count
        return begin

    def place(self, at, word, count, what):
        """The target of the pointer at word `at`: it must be the next `count` words."""
        offset = (word >> 2) & 0x3FFFFFFF
        if at + 1 + offset != self.next:
            raise Refused(what + ": not in canonical form")
        return self.take(count)


def decode(spec, data):
    """`data` as a dict; Refused if it is not the one encoding of a `spec`."""
    reader = _Reader(data)
    reader.take(1)
    value = _pointed_struct(reader, 0, spec)
    if value is None:
        raise Refused(spec.name + ": null")
    if reader.next != reader.words:
        raise Refused(spec.name + ": not in canonical form, words left over")
    return value


def _sections(word):
    return (word >> 32) & 0xFFFF, word >> 48


def _pointed_struct(reader, at, spec):
    word = reader.word(at)
    if word == 0:
        return None
    if word & 3:
        raise Refused(spec.name + ": not a struct")
    data_words, pointers = _sections(word)
    if data_words + pointers == 0:
        if word != 0xFFFFFFFC:  # the one encoding of an empty struct
            raise Refused(spec.name + ": not in canonical form")
        begin = reader.next
    else:
        begin = reader.place(at, word, data_words + pointers, spec.name)
        if data_words and reader.word(begin + data_words - 1) == 0:
            raise Refused(spec.name + ": not in canonical form")
        if pointers and reader.word(begin + data_words + pointers - 1) == 0:
            raise Refused(spec.name + ": not in canonical form")
    return _struct_at(reader, begin, data_words, pointers, spec)


def _struct_at(reader, begin, data_words, pointers, spec):
    if pointers > len(spec.pointers):
        raise Refused(spec.name + ": unknown fields")
    bits = int.from_bytes(reader.data[begin * WORD:(begin + data_words) * WORD], "little")
    if bits & ~spec.mask:
        raise Refused(spec.name + ": unknown fields")
    value = {}
    for field in spec.fields:
        number = (bits >> field.at) & ((1 << field.width) - 1)
        if number > field.most:
            raise Refused(field.name + ": out of range")
        value[field.name] = number
    for index, pointer in enumerate(spec.pointers):
        at = begin + data_words + index if index < pointers else None
        value[pointer.name] = _pointer(reader, at, pointer)
    if spec.check:
        spec.check(value)
    return value


def _pointer(reader, at, spec):
    """What the pointer at word `at` points to; `at` is None for one that was cut off as null."""
    null = at is None or reader.word(at) == 0
    if isinstance(spec, One):
        value = None if null else _pointed_struct(reader, at, spec.struct)
        if value is None and not spec.optional:
            raise Refused(spec.name + ": missing")
        return value
    if isinstance(spec, Bytes):
        value = b"" if null else _data(reader, at, spec.name)
        if len(value) > spec.most or len(value) < spec.least or len(value) % spec.unit:
            raise Refused(spec.name + ": wrong length")
        return value
    if null:
        return []
    if isinstance(spec, Words):
        begin, count = _list(reader, at, spec, element=5)
        return [reader.word(begin + i) for i in range(count)]
    if isinstance(spec, Blobs):
        begin, count = _list(reader, at, spec, element=6)
        blobs = [b"" if reader.word(begin + i) == 0 else _data(reader, begin + i, spec.name)
                 for i in range(count)]
        if any(len(blob) > spec.size for blob in blobs):
            raise Refused(spec.name + ": too long")
        return blobs
    return _structs(reader, at, spec)


def _list_word(reader, at, what, element):
    word = reader.word(at)
    if word & 3 != 1 or (word >> 32) & 7 != element:
        raise Refused(what + ": not such a list")
    return word, word >> 35


def _data(reader, at, what):
    word, count = _list_word(reader, at, what, element=2)
    if count == 0:
        raise Refused(what + ": empty, but not null")
    length = (count + WORD - 1) // WORD
    begin = reader.place(at, word, length, what) * WORD
    if any(reader.data[begin + count:begin + length * WORD]):
        raise Refused(what + ": not in canonical form")
    return bytes(reader.data[begin:begin + count])


def _list(reader, at, spec, element):
    word, count = _list_word(reader, at, spec.name, element)
    if count == 0:
        raise Refused(spec.name + ": empty, but not null")
    if count > spec.most:
        raise Refused(spec.name + ": too many")
    return reader.place(at, word, count, spec.name), count


def _structs(reader, at, spec):
    word, length = _list_word(reader, at, spec.name, element=7)
    begin = reader.place(at, word, 1 + length, spec.name)
    tag = reader.word(begin)
    count = (tag >> 2) & 0x3FFFFFFF
    data_words, pointers = _sections(tag)
    size = data_words + pointers
    if tag & 3 or count == 0 or count * size != length:
        raise Refused(spec.name + ": not in canonical form")
    if count > spec.most:
        raise Refused(spec.name + ": too many")
    starts = [begin + 1 + i * size for i in range(count)]
    # Each section has the length that the largest element needs.
    if data_words and not any(reader.word(start + data_words - 1) for start in starts):
        raise Refused(spec.name + ": not in canonical form")
    if pointers and not any(reader.word(start + size - 1) for start in starts):
        raise Refused(spec.name + ": not in canonical form")
    return [_struct_at(reader, start, data_words, pointers, spec.struct) for start in starts]
