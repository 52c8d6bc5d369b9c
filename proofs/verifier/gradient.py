"""Judges evidence of kind gradient: computes the gradient that was due, by kernels of its own (docs/evidence.md, 3).

Not used without NumPy (Debian: python3-numpy).
"""
import os
import struct

import numpy as np

import codec
import datasets
import examples
import graphs
import local_steps
import messages
import tensors
from hashing import hashed, merkle_root, sized, u64

CHUNK = 64 * 1024
FEWEST_OWNERS = 3


class Missing(Exception):
    """What is needed to compute the gradient is not there, or is not what the accused names."""


# Files that are not what was asked for, each with its reason.
UNFIT = (Missing, graphs.BadGraph, examples.BadData, tensors.BadTensors)


class Stream:
    """ChaCha20 keyed by H("stream/1", sized label | key), with nonce zero and a 64-bit counter."""

    def __init__(self, label, key):
        self.key = struct.unpack("<8I", hashed("stream/1", sized(label.encode()), key))
        self.block, self.left = 0, b""

    def blocks(self, count):
        """The bytes of the next blocks, all at once."""
        number = np.arange(self.block, self.block + count, dtype=np.uint64)
        self.block += count
        known = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574) + self.key
        start = np.zeros((16, count), np.uint32)
        start[:12] = np.array(known, np.uint32)[:, None]
        start[12], start[13] = number & np.uint64(0xFFFFFFFF), number >> np.uint64(32)
        x = start.copy()

        def quarter(a, b, c, d):
            for first, second, third, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[first] += x[second]
                mixed = x[third] ^ x[first]
                x[third] = mixed << np.uint32(turn) | mixed >> np.uint32(32 - turn)

        for _ in range(10):
            for i in range(4):
                quarter(i, 4 + i, 8 + i, 12 + i)
            for i in range(4):
                quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        return (x + start).T.astype("<u4").tobytes()

    def take(self, size):
        if len(self.left) < size:
            self.left += self.blocks(max(16, -(-(size - len(self.left)) // 64)))
        taken, self.left = self.left[:size], self.left[size:]
        return taken

    def next_u64(self):
        return struct.unpack("<Q", self.take(8))[0]

    def below(self, bound):
        refused = (1 << 64) % bound
        value = self.next_u64()
        while value < refused:
            value = self.next_u64()
        return value % bound


def distinct(stream, bound, count):
    """So many different numbers below a bound, ascending."""
    drawn = set()
    for last in range(bound - count, bound):
        number = stream.below(last + 1)
        drawn.add(last if number in drawn else number)
    return sorted(drawn)


def draw_batch(seed, count, size):
    return distinct(Stream("batch rows", seed), count, size)


def draw_from_chunks(seed, chunks, chunk_rows, size):
    """Of few chunks: their rows are at most four times as many, where a batch has a quarter of a chunk's or more."""
    count = max(1, min(4 * size // chunk_rows, chunks, size))
    stream, rows = Stream("batch chunks", seed), []
    for place, chunk in enumerate(distinct(stream, chunks, count)):
        own = size // count + (1 if place < size % count else 0)
        rows += [chunk * chunk_rows + row for row in distinct(stream, chunk_rows, own)]
    return rows


def draw_inputs(seed, index, drawn):
    """What all peers give to the drawn inputs of a batch's micro-batch (docs/numerics.md, 8): {name: (shape, keep)}."""
    stream, values = Stream(f"drawn inputs {index}", seed), {}
    for name, (shape, keep) in drawn.items():
        numbers = np.frombuffer(stream.take(4 * int(np.prod(shape, dtype=np.int64))), "<u4")
        kept = numbers < int(float(keep) * 2**32)
        values[name] = np.where(kept, np.float32(1) / keep, np.float32(0)).astype(np.float32).reshape(shape)
    return values


def parameters_root(values):
    data = values.tobytes()
    leaves = [hashed("merkle.leaf/1", data[at:at + CHUNK]) for at in range(0, len(data), CHUNK)]
    return hashed("parameters/1", u64(values.size), merkle_root(leaves))


def gradient_root(values, parts, form="raw"):
    """Over the parts of a gradient, coded as `form`: the longer ones first, and sizes differ by one at most."""
    shortest, longer = divmod(values.size, parts)
    roots, at = [], 0
    for i in range(parts):
        size = shortest + (1 if i < longer else 0)
        data = codec.encode(form, values[at:at + size])
        at += size
        roots.append(merkle_root([hashed("merkle.leaf/1", data[k:k + CHUNK]) for k in range(0, len(data), CHUNK)]))
    return merkle_root(roots)


def workers_and_parts(block, version):
    """Who works in the step after a block (docs/protocol/checks.md), members that are in no quarantined pair, not leaving and not
    just admitted, less the validators drawn; and into how many parts a gradient is cut: one for each worker that can be
    dialed. Until protocol version 7 who was just admitted worked, and until version 6 it owned a part."""
    if block["closing"]:
        return [], 0
    members = messages.ids_of(block["members"])
    taken = set()
    for kind in ("gradient", "numbers"):
        for case in block["cases"]:
            accuser, target = case["id"]["accuser"], case["id"]["target"]
            if messages.CASES[case["id"]["kind"]] != kind or accuser in taken or target in taken:
                continue
            if accuser in members and target in members:
                taken.update((accuser, target))
    leaving = messages.ids_of(block["leaving"])
    joined = messages.ids_of(block["joined"])
    out_of_role = taken.union(leaving, joined if version >= 8 else [])
    pool = [member for member in members if member not in out_of_role]
    only_dial = {reach["peer"] for reach in block["reach"] if reach["only_dials"]}
    own_nothing = only_dial.union(joined if version == 7 else [])
    owners = [member for member in pool if member not in own_nothing]
    if len(owners) < FEWEST_OWNERS:
        return [], 0
    validators = []
    for drawn in block["drawn"]:
        if drawn["works"]:
            continue
        owns = drawn["validator"] in owners
        if owns and len(owners) == FEWEST_OWNERS:
            continue
        if drawn["validator"] in pool:
            validators.append(drawn["validator"])
        if owns:
            owners.remove(drawn["validator"])
    return [member for member in pool if member not in validators], len(owners)


class Judge:
    """A run with its model and data, for a reader who holds them."""

    def __init__(self, manifest, run_id, state, data=None, graph=None):
        training = manifest["training"]
        self.run_id, self.state, self.source = run_id, state, training["data"]
        self.exact = manifest["run"].get("compute_profile") == "exact/1"
        self.version = int(manifest["run"]["protocol_version"])
        self.batch = int(training["batch_size"])
        self.local = local_steps.Plan(manifest)
        self.batches = int(training.get("batches", 1))
        self.most_batches = int(training.get("most_batches", 1))
        self.codec = manifest["aggregation"].get("part_codec", "raw")
        model, _, graph_hash = training["model"].partition("@")
        name, _, data_hash = self.source.partition("@")
        self.name = name
        self.constants = {}
        if model == "graph":
            self.graph = self.read_graph(graph, graph_hash)
            self.constants = self.read_constants(graph)
            self.data = datasets.read(name, data, self.first_input()[-1])
        elif model in ("softmax", "mlp"):
            self.data = datasets.read(name, data, None)
            self.graph = graphs.perceptron(model, self.batch, self.data.features, int(training["hidden"]), self.data.classes)
        else:
            raise Missing(f"no exact kernels for model {model}")
        if self.data.hash.hex() != data_hash:
            raise Missing("the data are not those that the manifest names")
        if name in ("examples", "stream"):
            known = {column.name for column in self.data.columns}
            known |= {"targets"} if "tokens" in known else set()
            fits = known >= set(self.graph.inputs)
        else:
            fits = len(self.graph.inputs) == 2 and "targets" in self.graph.inputs
        if model == "graph" and not fits:
            raise Missing("the graph has other inputs than the data have for it")

    @staticmethod
    def read_graph(path, graph_hash):
        if not path:
            raise Missing("the run trains a graph: give --graph")
        with open(path, "rb") as file:  # without a mark and CRLF, which editors of other systems add
            text = file.read().removeprefix(b"\xef\xbb\xbf").replace(b"\r\n", b"\n")
        if hashed("graph/1", text).hex() != graph_hash:
            raise Missing(f"{path} is not the graph that the manifest names")
        graph = graphs.parse(text)
        if not graph.inputs or not all(graph.inputs.values()):
            raise Missing(f"{path} has other inputs than a run has for it")
        return graph

    def read_constants(self, graph_path):
        """The frozen tensors, from beside the graph."""
        if not self.graph.constants:
            return {}
        shapes = {name: constant.shape for name, constant in self.graph.constants.items()}
        values = graphs.split(tensors.read(graph_path + ".constants.safetensors", shapes, more=False,
                                           allowed=("F32", "BF16")), shapes)
        graphs.check_constants(self.graph, values)
        return values

    def first_input(self):
        return next(iter(self.graph.inputs.values()))

    @staticmethod
    def column_for(columns, name, shape):
        """A column tokens of one more than an input takes stands for both inputs of a text."""
        records = columns.get("tokens")
        if name in ("tokens", "targets") and "targets" not in columns and len(shape) == 2 and records.shape[1] == shape[1] + 1:
            return records[:, 1:] if name == "targets" else records[:, :-1]
        return columns[name]

    def inputs_of(self, rows):
        if self.name in ("examples", "stream"):
            columns = self.data.named_inputs(rows)
            return {name: self.column_for(columns, name, shape).reshape(shape) for name, shape in self.graph.inputs.items()}
        values, targets = self.data.inputs(rows)
        return {name: (targets if name == "targets" else values).reshape(shape) for name, shape in self.graph.inputs.items()}

    def gradient(self, parameters, seed):
        if self.name == "stream":
            rows = draw_from_chunks(seed, self.data.chunks, self.data.chunk_rows, self.batch)
        else:
            rows = draw_batch(seed, self.data.count, self.batch)
        micro = self.first_input()[0]
        total = None
        with np.errstate(all="ignore"):
            for at in range(0, len(rows), micro):
                inputs = self.inputs_of(rows[at:at + micro]) | draw_inputs(seed, at // micro, self.graph.drawn)
                _, part = graphs.loss_and_gradient(self.graph, parameters, inputs, self.constants)
                total = part if total is None else total + part
            if len(rows) > micro:
                total = total * (np.float32(1) / np.float32(len(rows) // micro))
        return np.where(np.isfinite(total), total, np.float32(0)).astype(np.float32)

    def due_gradient(self, worker, step, block, root):
        """The gradient that was due from a worker, and how many parts it was cut into; None if none was. `root`: of the parameters
        that its COMMIT names."""
        if not self.exact:
            raise Missing("only gradients of profile exact/1 can be proven false")
        path = self.state
        if os.path.isdir(path):
            path = os.path.join(path, f"parameters-{step}.safetensors")
        parameters = tensors.read(path, self.graph.parameters, more=True)
        if parameters_root(parameters) != root:
            raise Missing(f"{path}: not the parameters of step {step} that the accused names")
        workers, parts = workers_and_parts(block, self.version)
        if worker not in workers:
            return None
        seed = hashed("batch/1", self.run_id, sized(self.source.encode()), block["randomness"], u64(step), worker)
        counts = {count["peer"]: count["count"] for count in block["batch_counts"]}
        if any(not self.batches < count <= self.most_batches for count in counts.values()):
            return None  # no block of the run has these
        mean = local_steps.Mean(seed, counts.get(worker, self.batches), self.local.count, self.gradient)
        return self.local.distance(parameters, step, mean) if self.local.count > 1 else mean(parameters, 0), parts

    def honest_root(self, worker, step, block, root):
        """The root of the worker's true gradient; None if none was due."""
        due = self.due_gradient(worker, step, block, root)
        return due and gradient_root(*due, self.codec)
