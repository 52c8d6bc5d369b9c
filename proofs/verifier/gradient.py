"""Judges evidence of kind gradient: computes the gradient that was due, by kernels of its own (docs/evidence.md, 3).

Not used without NumPy (Debian: python3-numpy).
"""
import json
import os
import struct

import numpy as np

import datasets
import graphs
import messages
from hashing import hashed, merkle_root, sized, u64

CHUNK = 64 * 1024
FEWEST_OWNERS = 3
MAX_HEADER = 16 << 20
DIGITS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../node/train/data/digits.csv")


class Missing(Exception):
    """What is needed to compute the gradient is not there, or is not what the accused names."""


class Stream:
    """ChaCha20 keyed by H("stream/1", sized label | key), with nonce zero and a 64-bit counter."""

    def __init__(self, label, key):
        self.key = struct.unpack("<8I", hashed("stream/1", sized(label.encode()), key))
        self.block, self.left = 0, b""

    def refill(self):
        start = (0x61707865, 0x3320646E, 0x79622D32, 0x6B206574) + self.key + (
            self.block & 0xFFFFFFFF, self.block >> 32, 0, 0)
        x = list(start)

        def quarter(a, b, c, d):
            for first, second, third, turn in ((a, b, d, 16), (c, d, b, 12), (a, b, d, 8), (c, d, b, 7)):
                x[first] = (x[first] + x[second]) & 0xFFFFFFFF
                mixed = x[third] ^ x[first]
                x[third] = (mixed << turn | mixed >> (32 - turn)) & 0xFFFFFFFF

        for _ in range(10):
            for i in range(4):
                quarter(i, 4 + i, 8 + i, 12 + i)
            for i in range(4):
                quarter(i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4)
        self.left += struct.pack("<16I", *((a + b) & 0xFFFFFFFF for a, b in zip(x, start)))
        self.block += 1

    def next_u64(self):
        while len(self.left) < 8:
            self.refill()
        value, self.left = struct.unpack("<Q", self.left[:8])[0], self.left[8:]
        return value

    def below(self, bound):
        refused = (1 << 64) % bound
        value = self.next_u64()
        while value < refused:
            value = self.next_u64()
        return value % bound


def draw_batch(seed, count, size):
    stream, rows = Stream("batch rows", seed), set()
    for last in range(count - size, count):
        row = stream.below(last + 1)
        rows.add(last if row in rows else row)
    return sorted(rows)


def parameters_root(values):
    data = values.tobytes()
    leaves = [hashed("merkle.leaf/1", data[at:at + CHUNK]) for at in range(0, len(data), CHUNK)]
    return hashed("parameters/1", u64(values.size), merkle_root(leaves))


def gradient_root(values, parts):
    """Over the parts of a gradient: the longer ones first, and sizes differ by one at most."""
    shortest, longer = divmod(values.size, parts)
    roots, at = [], 0
    for i in range(parts):
        size = shortest + (1 if i < longer else 0)
        data = values[at:at + size].tobytes()
        at += size
        roots.append(merkle_root([hashed("merkle.leaf/1", data[k:k + CHUNK]) for k in range(0, len(data), CHUNK)]))
    return merkle_root(roots)


def workers_and_parts(block, version):
    """Who works in the step after a block (protocol.md 5), members that are in no quarantined pair, not leaving and not
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
        owns = drawn["validator"] in owners
        if owns and len(owners) == FEWEST_OWNERS:
            continue
        if drawn["validator"] in pool:
            validators.append(drawn["validator"])
        if owns:
            owners.remove(drawn["validator"])
    return [member for member in pool if member not in validators], len(owners)


def read_parameters(path, graph):
    """The graph's tensors, first in a safetensors file, as one flat float32 array."""
    with open(path, "rb") as file:
        length = struct.unpack("<Q", file.read(8).ljust(8, b"\0"))[0]
        if length > MAX_HEADER:
            raise Missing(f"{path}: its header is longer than it may be")
        try:
            header = json.loads(file.read(length))
            tensors = [(name, tuple(entry["shape"])) for name, entry in header.items() if name != "__metadata__"]
        except (ValueError, TypeError, KeyError, AttributeError) as problem:
            raise Missing(f"{path}: no safetensors file: {problem}") from None
        if tensors[:len(graph.parameters)] != list(graph.parameters.items()):
            raise Missing(f"{path}: its tensors are not those of the run's model")
        size = sum(int(np.prod(shape, dtype=np.int64)) for shape in graph.parameters.values())
        data = file.read(4 * size)
    if len(data) != 4 * size:
        raise Missing(f"{path}: it is cut short")
    return np.frombuffer(data, "<f4").astype(np.float32)


class Judge:
    """A run with its model and data, for a reader who holds them."""

    def __init__(self, manifest, run_id, state, data=None, graph=None):
        training = manifest["training"]
        self.run_id, self.state, self.source = run_id, state, training["data"]
        self.exact = manifest["run"].get("compute_profile") == "exact/1"
        self.version = int(manifest["run"]["protocol_version"])
        self.batch = int(training["batch_size"])
        model, _, graph_hash = training["model"].partition("@")
        name, _, data_hash = self.source.partition("@")
        if model == "graph":
            self.graph = self.read_graph(graph, graph_hash)
            self.data = self.read_data(name, data, next(iter(self.graph.inputs.values())))
        elif model in ("softmax", "mlp"):
            self.data = self.read_data(name, data, None)
            self.graph = graphs.perceptron(model, self.batch, self.data.features, int(training["hidden"]), self.data.classes)
        else:
            raise Missing(f"no exact kernels for model {model}")
        if self.data.hash.hex() != data_hash:
            raise Missing("the data are not those that the manifest names")

    @staticmethod
    def read_graph(path, graph_hash):
        if not path:
            raise Missing("the run trains a graph: give --graph")
        with open(path, "rb") as file:
            text = file.read()
        if hashed("graph/1", text).hex() != graph_hash:
            raise Missing(f"{path} is not the graph that the manifest names")
        return graphs.parse(text)

    @staticmethod
    def read_data(name, path, input_shape):
        if name == "digits":
            path = path or DIGITS
        elif name != "tokens" or not path:
            raise Missing(f"give the run's data, {name}: this program reads digits and texts")
        with open(path, "rb") as file:
            content = file.read()
        return datasets.digits(content) if name == "digits" else datasets.records(content, input_shape[1])

    def inputs_of(self, rows):
        features, labels = self.data.training[rows], self.data.labels[rows]
        inputs = {}
        for name, shape in self.graph.inputs.items():
            inputs[name] = labels.reshape(shape) if name == "targets" else features.reshape(shape)
        return inputs

    def gradient(self, parameters, seed):
        rows = draw_batch(seed, len(self.data.training), self.batch)
        micro = next(iter(self.graph.inputs.values()))[0]
        total = None
        for at in range(0, len(rows), micro):
            part = graphs.gradient(self.graph, parameters, self.inputs_of(rows[at:at + micro]))
            total = part if total is None else graphs.add(total, part)
        if len(rows) > micro:
            total = graphs.times(total, np.float32(1) / np.float32(len(rows) // micro))
        return np.where(np.isfinite(total), total, np.float32(0)).astype(np.float32)

    def honest_root(self, worker, step, block, root):
        """The root of the worker's true gradient; None if none was due. `root`: of the parameters that its COMMIT names."""
        if not self.exact:
            raise Missing("only gradients of profile exact/1 can be proven false")
        path = self.state
        if os.path.isdir(path):
            path = os.path.join(path, f"parameters-{step}.safetensors")
        parameters = read_parameters(path, self.graph)
        if parameters_root(parameters) != root:
            raise Missing(f"{path}: not the parameters of step {step} that the accused names")
        workers, parts = workers_and_parts(block, self.version)
        if worker not in workers:
            return None
        seed = hashed("batch/1", self.run_id, sized(self.source.encode()), block["randomness"], u64(step), worker)
        return gradient_root(self.gradient(parameters, seed), parts)
