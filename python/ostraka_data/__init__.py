"""Data for a run: `ostraka.data`. Texts of any vocabulary as records of tokens (`pack`, `from_bin`), and rows of any columns
for graphs of any inputs (`pack_examples`), or in chunks that members fetch as they need them (`pack_stream`). Needs NumPy alone; a tokenizer is the caller's.

A file of tokens is as node/train/tokens/tokens.h has it: one line, then records of context + 1 tokens, of which the last `context`
are the targets of the first. The first eight tenths of all tokens train, the next tenth is for validation and the last for
tests, each of these two with at most 256 records at equal distances, as `ostraka data pack` cuts a text.
"""
import itertools
import os
import sys
import time

__all__ = ["from_bin", "mask", "pack", "pack_examples", "pack_stream", "token_rows"]

# NumPy is imported where it is needed: the module is, too, where a wheel is built without it.
MOST_HELD_OUT = 256
MOST_CONTEXT = 1 << 16
MOST_OF_TWO_BYTES = 1 << 16
MOST_HELD_OUT_ROWS = 2048
STREAM_INDEX = "stream.index"
BLOCK = 1 << 20      # tokens that are read at once
ROWS_AT_ONCE = 256   # that are encoded


def pack(texts, tokenizer, path, *, context, vocabulary=None, end=None, overwrite=False):
    """Writes the tokens of `texts`, an iterable of str, to `path`; nothing but the text at hand is kept in memory.

    tokenizer: of tokenizers, transformers or tiktoken, or any function from a str to a sequence of ints, which then needs
    `vocabulary`. context: tokens that a prediction sees, 1 to 65536. end: the id that follows each text; by default that of
    the tokenizer's end of text, if it has one. Returns a dict: path, vocabulary, context, tokens, training, validation, test
    (records). A tokenizer that can be written as JSON is kept beside the file, as PATH.tokenizer.json.

    ValueError: too few tokens, an id outside of the vocabulary, a size out of range. FileExistsError: `path` is there.
    """
    import numpy as np
    encode, known, its_end = _encoder(tokenizer)
    vocabulary = known if vocabulary is None else vocabulary
    if vocabulary is None:
        raise ValueError("say how many tokens the tokenizer knows: vocabulary=")
    end = its_end if end is None else end
    with _Spool(path, context, vocabulary, overwrite) as spool:
        began = shown = time.monotonic()
        for text in texts:
            ids = list(encode(text))
            if end is not None:
                ids.append(end)
            spool.add(np.asarray(ids, np.int64))
            if sys.stderr.isatty() and time.monotonic() - shown > 1:
                shown = time.monotonic()
                print(f"\r{spool.tokens:,} tokens, {spool.tokens / (shown - began):,.0f} a second", end="", file=sys.stderr)
        if shown > began:
            print(file=sys.stderr)
        result = spool.finish()
    text = _json_of(tokenizer)
    if text is not None:
        with open(f"{path}.tokenizer.json", "w", encoding="utf-8") as file:
            file.write(text)
    return result


def from_bin(path, out, *, vocabulary, context, dtype="u2", overwrite=False):
    """Writes the tokens of a file of nothing but little-endian integers, as nanoGPT's train.bin, to `out`, as `pack` does."""
    import numpy as np
    tokens = np.memmap(path, np.dtype(dtype).newbyteorder("<"), "r")
    with _Spool(out, context, vocabulary, overwrite) as spool:
        for begin in range(0, len(tokens), BLOCK):
            spool.add(tokens[begin:begin + BLOCK].astype(np.int64))
        return spool.finish()


def pack_examples(rows, path, *, integers=None, pixels=(), validation=None, test=None, overwrite=False):
    """Writes rows of named columns to `path`, for `--data examples:PATH`: a graph's input takes the column of its name.

    rows: a dict of arrays (one row for each element of the first axis), or an iterable of dicts, as of the library datasets.
    All rows have the same keys and shapes. Integers become the smallest of u8, u16 and u32 that holds their range; floats
    are float32; uint8 arrays named in `pixels` are read as 2 (p / 255) - 1. integers: {column: (lowest, bound)}, where a
    range is known: lowest is 0, or -1 for targets that are left out of the loss; bound lies above all values (default: what
    the rows have). validation, test: rows likewise; without them every tenth row, those of the smallest hashes, at most 2048
    each. Returns a dict: path, columns (their lines), training, validation, test (rows).

    ValueError: rows that differ in their keys or shapes, values out of a range, too few rows. FileExistsError: `path` is there.
    """
    if os.path.exists(path) and not overwrite:
        raise FileExistsError(f"{path} is there: overwrite=True replaces it")
    parts = [_columns_of(part) for part in (rows, validation, test) if part is not None]
    if (validation is None) != (test is None):
        raise ValueError("give both validation= and test=, or neither")
    lines, fields = _described(parts, dict(integers or {}), set(pixels))
    tables = [_table(part, fields) for part in parts]
    if len(tables) == 1:
        tables = _split(tables[0])
    if not all(len(table) for table in tables):
        raise ValueError("too few rows: each of training, validation and test needs one")
    counts = [len(table) for table in tables]
    try:
        with open(f"{path}.new", "wb") as file:
            file.write(f"ostraka-examples 1 {len(lines)} {' '.join(map(str, counts))}\n".encode())
            file.write("".join(line + "\n" for line in lines).encode())
            for table in tables:
                file.write(table.tobytes())
        os.replace(f"{path}.new", path)
    finally:
        if os.path.exists(f"{path}.new"):
            os.remove(f"{path}.new")
    return {"path": os.fspath(path), "columns": lines, **dict(zip(("training", "validation", "test"), counts))}


def pack_stream(rows, folder, *, integers=None, pixels=(), validation=None, test=None, chunk_bytes=256 << 10, file_chunks=16384,
                shuffle=65_536, seed=0, overwrite=False):
    """Writes rows of named columns to `folder` as chunks, for `--data stream:FOLDER` or, put on a server, stream:https://...

    rows: an iterable of dicts, of which only `shuffle` are in memory. A batch takes its rows from few chunks, so they are
    written in an order that `seed` draws among so many; 1: as they come. integers: {column: (lowest, bound)} of each column
    of integers (no default, as not all rows are seen at first). pixels, columns: as `pack_examples`. validation, test: rows
    likewise; without them one row in a hundred, by hashes, is held out for either, at most 256 for each. chunk_bytes: of a
    chunk, 1 to 8 MiB at most; file_chunks: of a file. Returns a dict: folder, columns, training, validation, test (rows),
    chunks, chunk_rows. What training rows are left after whole chunks is not written.

    ValueError: as `pack_examples`; fewer rows than a chunk has. FileExistsError: `folder` holds data.
    """
    import numpy as np
    import hashlib
    folder = os.fspath(folder)
    if os.path.exists(os.path.join(folder, STREAM_INDEX)) and not overwrite:
        raise FileExistsError(f"{folder} holds data: overwrite=True replaces them")
    if (validation is None) != (test is None):
        raise ValueError("give both validation= and test=, or neither")
    if not 1 <= chunk_bytes <= 8 << 20 or file_chunks < 1 or shuffle < 1:
        raise ValueError("chunk_bytes must be 1 to 8 MiB, file_chunks and shuffle at least 1")
    rows = iter(rows)
    first = next(rows, None)
    if first is None:
        raise ValueError("there are no rows")
    integers = dict(integers or {})
    for name, value in first.items():
        if name not in integers and name not in pixels and np.issubdtype(np.asarray(value).dtype, np.integer):
            raise ValueError(f"say the range of column {name}: integers={{{name!r}: (lowest, bound)}}")
    lines, fields = _described([_columns_of([first])], integers, set(pixels))

    def encoded(row):
        columns = _columns_of([row])
        if set(row) != set(first) or _described([columns], integers, set(pixels))[0] != lines:
            raise ValueError(f"a row has other columns or shapes than the first: {sorted(row)}")
        return _table(columns, fields)[0].tobytes()

    def encoded_rows(rows):
        """Of an iterable, many rows at a time; where something is wrong, one at a time, for the reason."""
        while block := list(itertools.islice(rows, ROWS_AT_ONCE)):
            try:
                columns = _columns_of(block)
                alike = set(columns) == set(first) and _described([columns], integers, set(pixels))[0] == lines
            except ValueError:
                alike = False
            yield from map(bytes, _table(columns, fields)) if alike else map(encoded, block)

    width = len(encoded(first))
    chunk_rows = max(chunk_bytes // width, 1)
    held_out = [list(encoded_rows(iter(part))) for part in (validation, test)] if test is not None else [[], []]
    draw = np.random.default_rng(seed)
    os.makedirs(folder, exist_ok=True)
    with _ChunkWriter(folder, chunk_rows, file_chunks) as writer:
        buffer = []
        for row in encoded_rows(itertools.chain([first], rows)):
            if test is None:
                place = int.from_bytes(hashlib.blake2b(row, digest_size=8).digest(), "little") % 100
                if place < 2 and len(held_out[place]) < MOST_HELD_OUT:
                    held_out[place].append(row)
                    continue
            if len(buffer) < shuffle:
                buffer.append(row)
                continue
            at = int(draw.integers(shuffle))
            buffer[at], row = row, buffer[at]
            writer.add(row)
        for at in draw.permutation(len(buffer)) if shuffle > 1 else range(len(buffer)):
            writer.add(buffer[at])
        if not writer.leaves or not all(held_out):
            raise ValueError(f"too few rows: a chunk has {chunk_rows}, and validation and test need rows, too (chunk_bytes=, validation=, test=)")
        counts = [len(writer.leaves) * chunk_rows, *map(len, held_out)]
        head = f"ostraka-stream 1 {len(lines)} {' '.join(map(str, counts))} {chunk_rows} {file_chunks}\n"
        head += "".join(line + "\n" for line in lines)
        writer.finish(head.encode() + b"".join(itertools.chain(*held_out)) + b"".join(writer.leaves))
    return {"folder": folder, "columns": lines, **dict(zip(("training", "validation", "test"), counts)), "chunks": len(writer.leaves),
            "chunk_rows": chunk_rows}


def token_rows(texts, tokenizer, *, context, end=None):
    """Rows {"tokens": context + 1 ids} of texts, one after another, for `pack_stream(..., integers={"tokens": (0, vocabulary)})`.

    A graph with inputs tokens and targets of `context` positions takes both from it. tokenizer, end: as `pack`.
    """
    import numpy as np
    encode, _, its_end = _encoder(tokenizer)
    end = its_end if end is None else end
    left = []
    for text in texts:
        left.extend(encode(text))
        if end is not None:
            left.append(end)
        while len(left) > context:
            yield {"tokens": np.asarray(left[:context + 1], np.int64)}
            del left[:context]


class _ChunkWriter:
    """Rows as chunks of a folder; the index comes last, so a folder without one is not whole."""

    def __init__(self, folder, chunk_rows, file_chunks):
        self.folder, self.chunk_rows, self.file_chunks = folder, chunk_rows, file_chunks
        self.rows, self.leaves, self.file = [], [], None

    def __enter__(self):
        index = os.path.join(self.folder, STREAM_INDEX)
        if os.path.exists(index):
            os.remove(index)
        return self

    def __exit__(self, *_):
        if self.file:
            self.file.close()

    def add(self, row):
        import hashlib
        self.rows.append(row)
        if len(self.rows) < self.chunk_rows:
            return
        chunk = b"".join(self.rows)
        self.rows = []
        if len(self.leaves) % self.file_chunks == 0:
            if self.file:
                self.file.close()
            self.file = open(os.path.join(self.folder, f"stream.{len(self.leaves) // self.file_chunks:05}"), "wb")
        self.file.write(chunk)
        self.leaves.append(hashlib.blake2b(chunk, digest_size=32, person=b"merkle.leaf/1").digest())

    def finish(self, index):
        path = os.path.join(self.folder, STREAM_INDEX)
        with open(f"{path}.new", "wb") as file:
            file.write(index)
        os.replace(f"{path}.new", path)


def mask(tokens, *, mask_token, vocabulary, seed, share=0.15, special=(), copies=1):
    """Masked language modelling, as BERT has it: (inputs, targets), each [copies * rows, positions], int64.

    Of the positions whose token is not in `special`, `share` are targets, all others -1. Of the targets' inputs eight tenths
    become `mask_token`, one tenth a token drawn from the vocabulary, and one tenth stay. Each copy has other masks; all
    follow from `seed`. tokens: [rows, positions], integers below `vocabulary`. Source: Devlin et al., BERT, NAACL 2019.
    """
    import numpy as np
    tokens = np.tile(np.asarray(tokens, np.int64), (copies, 1))
    if tokens.ndim != 2 or tokens.size == 0 or not (0 <= tokens.min() and tokens.max() < vocabulary):
        raise ValueError(f"tokens must be [rows, positions] of 0 to {vocabulary - 1}")
    if not 0 < share <= 1 or not 0 <= mask_token < vocabulary:
        raise ValueError("share must be above 0 and at most 1, and mask_token below the vocabulary")
    draw = np.random.default_rng(seed)
    chosen = (draw.random(tokens.shape) < share) & ~np.isin(tokens, list(special))
    how = draw.random(tokens.shape)
    inputs = np.where(chosen & (how < 0.8), mask_token, tokens)
    inputs = np.where(chosen & (how >= 0.9), draw.integers(0, vocabulary, tokens.shape), inputs)
    return inputs, np.where(chosen, tokens, -1)


def _columns_of(rows):
    """{name: array} of a dict of arrays or of an iterable of dicts."""
    import numpy as np
    if not isinstance(rows, dict):
        rows = list(rows)
        if not rows:
            raise ValueError("there are no rows")
        names = list(rows[0])
        for i, row in enumerate(rows):
            if list(row) != names and set(row) != set(names):
                raise ValueError(f"row {i} has the keys {sorted(row)}, the first one {sorted(names)}")
        rows = {name: [np.asarray(row[name]) for row in rows] for name in names}
        for name, values in rows.items():
            shapes = sorted({value.shape for value in values})
            if len(shapes) > 1:
                raise ValueError(f"column {name} has rows of shapes {shapes[0]} and {shapes[1]}: pad them to one length")
    columns = {name: np.asarray(values) for name, values in rows.items()}
    sizes = {name: len(values) if values.ndim else None for name, values in columns.items()}
    if not columns or None in sizes.values() or len(set(sizes.values())) != 1:
        raise ValueError(f"columns need arrays of equally many rows, not {sizes}")
    return columns


def _described(parts, integers, pixels):
    """(lines of the columns, [(name, width of an element, lowest, shape)])"""
    import numpy as np
    names = list(parts[0])
    lines, fields = [], []
    unknown = (set(integers) | pixels) - set(names)
    if unknown:
        raise ValueError(f"no column is named {sorted(unknown)[0]}")
    for name in names:
        if not name or len(name) > 128 or not all(c.isascii() and (c.isalnum() or c in "_.") for c in name):
            raise ValueError(f"a column's name has 1 to 128 letters, digits, '_' and '.', not {name!r}")
        arrays = [part.get(name) for part in parts]
        if any(array is None or array.shape[1:] != arrays[0].shape[1:] for array in arrays):
            raise ValueError(f"column {name} differs between the parts")
        shape = arrays[0].shape[1:]
        extents = ",".join(map(str, shape))
        if name in pixels:
            if any(array.dtype != np.uint8 for array in arrays):
                raise ValueError(f"column {name}: pixels are uint8")
            lines.append(f"{name} p8[{extents}]")
            fields.append((name, np.dtype("u1"), 0, shape))
        elif all(np.issubdtype(array.dtype, np.integer) or array.dtype == bool for array in arrays):
            least, most = min(int(array.min()) for array in arrays), max(int(array.max()) for array in arrays)
            lowest, bound = integers.get(name, (min(least, 0), most + 1))
            if lowest not in (0, -1) or not lowest < bound < 1 << 31 or least < lowest or most >= bound:
                raise ValueError(f"column {name} has values from {least} to {most}; integers lie from 0, or -1, to below {bound}")
            width = next(width for width in ("u1", "<u2", "<u4") if bound - lowest - 1 < 1 << 8 * np.dtype(width).itemsize)
            lines.append(f"{name} u{8 * np.dtype(width).itemsize}[{extents}] {lowest} {bound}")
            fields.append((name, np.dtype(width), lowest, shape))
        elif all(np.issubdtype(array.dtype, np.floating) for array in arrays):
            with np.errstate(over="ignore"):
                if not all(np.isfinite(array.astype(np.float32)).all() for array in arrays):
                    raise ValueError(f"column {name} has values that are no finite float32")
            lines.append(f"{name} f32[{extents}]")
            fields.append((name, np.dtype("<f4"), None, shape))
        else:
            raise ValueError(f"column {name} has the type {arrays[0].dtype}: integers and floats are written")
    return lines, fields


def _table(columns, fields):
    """The rows as they stand in the file, one array of bytes each."""
    import numpy as np
    pieces = []
    for name, width, lowest, _ in fields:
        values = columns[name]
        values = values.astype(width) if lowest is None else (values.astype(np.int64) - lowest).astype(width)
        pieces.append(np.ascontiguousarray(values).reshape(len(values), -1).view(np.uint8).reshape(len(values), -1))
    return np.hstack(pieces)


def _split(table):
    """[training, validation, test] by the rows' hashes: whatever the order of the rows, the same rows are held out."""
    import hashlib
    import numpy as np
    order = sorted(range(len(table)), key=lambda i: (hashlib.blake2b(table[i].tobytes(), digest_size=16).digest(), i))
    held = min(len(table) // 10, MOST_HELD_OUT_ROWS)
    taken = np.zeros(len(table), int)
    taken[order[:held]], taken[order[held:2 * held]] = 1, 2
    return [table[taken == part] for part in range(3)]


def _encoder(tokenizer):
    """(function from a str to ids, vocabulary or None, id of the end of a text or None)"""
    if hasattr(tokenizer, "encode_ordinary"):  # tiktoken
        return tokenizer.encode_ordinary, tokenizer.n_vocab, tokenizer.eot_token
    if hasattr(tokenizer, "get_vocab_size"):  # tokenizers
        ends = (tokenizer.token_to_id(name) for name in ("<|endoftext|>", "<|end_of_text|>", "</s>"))
        return (lambda text: tokenizer.encode(text, add_special_tokens=False).ids, tokenizer.get_vocab_size(),
                next((end for end in ends if end is not None), None))
    if hasattr(tokenizer, "eos_token_id"):  # transformers
        return lambda text: tokenizer(text, add_special_tokens=False)["input_ids"], len(tokenizer), tokenizer.eos_token_id
    return tokenizer, None, None


def _json_of(tokenizer):
    tokenizer = getattr(tokenizer, "backend_tokenizer", tokenizer)
    return tokenizer.to_str() if hasattr(tokenizer, "to_str") else None


class _Spool:
    """Tokens as they come, in a file beside the one that is made of them at the end."""

    def __init__(self, path, context, vocabulary, overwrite):
        import numpy as np
        if not 1 <= context <= MOST_CONTEXT:
            raise ValueError(f"context must be 1 to {MOST_CONTEXT}, not {context}")
        if not 1 <= vocabulary < 1 << 31:
            raise ValueError(f"vocabulary must be 1 to 2147483647, not {vocabulary}")
        if os.path.exists(path) and not overwrite:
            raise FileExistsError(f"{path} is there: overwrite=True replaces it")
        self.path, self.context, self.vocabulary, self.tokens = path, context, vocabulary, 0
        self.kind = "u16" if vocabulary <= MOST_OF_TWO_BYTES else "u32"
        self.width = np.dtype("<u2" if self.kind == "u16" else "<u4")
        self.spool = f"{path}.part"
        self.file = open(self.spool, "wb")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.file.close()
        for left in (self.spool, f"{self.path}.new"):
            if os.path.exists(left):
                os.remove(left)

    def add(self, ids):
        if ids.size and not (0 <= ids.min() and ids.max() < self.vocabulary):
            wrong = ids[(ids < 0) | (ids >= self.vocabulary)][0]
            raise ValueError(f"the tokenizer gave the id {wrong}, and its vocabulary is {self.vocabulary}")
        self.file.write(ids.astype(self.width).tobytes())
        self.tokens += ids.size

    def finish(self):
        import numpy as np
        self.file.close()
        tenth = self.tokens // 10
        if tenth < self.context + 1:
            raise ValueError(f"too few tokens: {self.tokens}, and records of {self.context + 1} need at least {10 * (self.context + 1)}")
        tokens = np.memmap(self.spool, self.width, "r")
        trained = self.tokens - 2 * tenth
        parts, counts = zip(_places(0, trained, self.context, trained), _places(trained, tenth, self.context, MOST_HELD_OUT),
                            _places(trained + tenth, tenth, self.context, MOST_HELD_OUT))
        line = f"ostraka-tokens 2 {self.kind} {self.vocabulary} {self.context} {' '.join(map(str, counts))}\n"
        with open(f"{self.path}.new", "wb") as file:
            file.write(line.encode())
            for place in itertools.chain.from_iterable(parts):
                file.write(tokens[place:place + self.context + 1].tobytes())
        os.replace(f"{self.path}.new", self.path)
        return {"path": os.fspath(self.path), "vocabulary": self.vocabulary, "context": self.context, "tokens": self.tokens,
                **dict(zip(("training", "validation", "test"), counts))}


def _places(begin, length, context, most):
    """Where the records of a stretch of tokens begin, and how many they are."""
    records = (length - 1) // context
    count = min(records, most)
    return (begin + i * records // count * context for i in range(count)), count
