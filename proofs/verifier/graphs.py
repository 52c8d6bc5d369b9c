"""Graph files (docs/graph.md) and their gradients (docs/numerics.md 6), by the slow kernels beside.

Not all operations of ostraka ops/1 are written a second time: those of softmax, mlp, gpt and albert. Another one is Unsupported.
"""
import collections

import numpy as np

import kernels
from kernels import F32, canonical, const, fma

Graph = collections.namedtuple("Graph", "parameters inputs instructions loss")
Instruction = collections.namedtuple("Instruction", "shape name operands attributes")


class BadGraph(Exception):
    """The text is no graph file, or does not fit its inputs."""


class Unsupported(Exception):
    """An operation that this program does not have."""


def shape_of(text):
    inner = text[text.index("[") + 1:-1]
    return tuple(int(extent) for extent in inner.split(",")) if inner else ()


def parse(text):
    """The checks of the format are the node's: the manifest names the file by its hash, which all members trained."""
    parameters, inputs, instructions, loss = {}, {}, {}, None
    try:
        lines = text.decode("ascii").splitlines()
        if lines[0] != "ostraka-graph 1":
            raise BadGraph("it does not begin as a graph file")
        for line in lines[1:]:
            words = line.split(" ")
            if words[0] == "parameter":
                parameters[words[1]] = shape_of(words[2])
            elif words[0] == "input":
                inputs[words[1]] = shape_of(words[2])
            elif words[0] == "loss":
                loss = words[1]
            elif words[0] == "constant":
                raise Unsupported("constants")
            else:
                attributes = dict(word.split("=") for word in words[4:] if "=" in word)
                operands = [word for word in words[4:] if "=" not in word]
                instructions[words[0]] = Instruction(shape_of(words[1]), words[3], operands, attributes)
        if loss not in instructions:
            raise BadGraph("it has no loss")
    except (ValueError, IndexError) as problem:
        raise BadGraph(str(problem)) from None
    return Graph(parameters, inputs, instructions, loss)


def perceptron(model, batch, features, hidden, classes):
    """The models softmax and mlp as graph files (docs/training.md)."""
    sizes = [(features, classes)] if model == "softmax" else [(features, hidden), (hidden, classes)]
    names = ["linear"] if model == "softmax" else ["layers.0", "layers.1"]
    graph = Graph({}, {"features": (batch, features), "targets": (batch,)}, {}, None)
    value = "features"
    for name, (inner, outer) in zip(names, sizes):
        graph.parameters[f"{name}.weight"], graph.parameters[f"{name}.bias"] = (outer, inner), (outer,)
        place = f"%{len(graph.instructions) + 1}"
        graph.instructions[place] = Instruction((batch, outer), "linear", [value, f"{name}.weight", f"{name}.bias"], {})
        value = place
        if name != names[-1]:
            value = f"%{len(graph.instructions) + 1}"
            graph.instructions[value] = Instruction((batch, outer), "relu", [place], {})
    loss = f"%{len(graph.instructions) + 1}"
    graph.instructions[loss] = Instruction((), "cross_entropy", [value, "targets"], {})
    return graph._replace(loss=loss)


# --- operations: forward gives a value, backward the contributions to each operand --------------------------------


def transposed(w):
    return np.swapaxes(w, -1, -2)


def add(a, b):
    with np.errstate(all="ignore"):
        return canonical(a + b)


def times(a, b):
    with np.errstate(all="ignore"):
        return canonical(a * b)


class Linear:
    @staticmethod
    def forward(step, x, w, *bias):
        flat = kernels.product(x.reshape(-1, x.shape[-1]), transposed(w))
        return (add(flat, bias[0]) if bias else flat).reshape(step.shape)

    @staticmethod
    def backward(step, g, y, x, w, *bias):
        flat = g.reshape(-1, g.shape[-1])
        dx = kernels.product(flat, w).reshape(x.shape)
        dw = kernels.product(transposed(flat), x.reshape(-1, x.shape[-1]))
        return [dx, dw] + ([kernels.rows(flat)] if bias else [])


class Relu:
    @staticmethod
    def forward(step, x):
        return canonical(np.where((x > 0) | np.isnan(x), x, F32(0)))

    @staticmethod
    def backward(step, g, y, x):
        return [canonical(np.where((x > 0) | np.isnan(x), g, F32(0)))]


class Add:
    @staticmethod
    def forward(step, a, b):
        return add(a, b)

    @staticmethod
    def backward(step, g, y, a, b):
        return [g, g]


class Reshape:
    @staticmethod
    def forward(step, x):
        return x.reshape(step.shape)

    @staticmethod
    def backward(step, g, y, x):
        return [g.reshape(x.shape)]


class Expand:
    @staticmethod
    def forward(step, x):
        return np.broadcast_to(x, step.shape).copy()

    @staticmethod
    def backward(step, g, y, x):
        total = np.zeros(x.shape, F32)
        sources = np.broadcast_to(np.arange(x.size).reshape(x.shape), step.shape).reshape(-1)
        flat = total.reshape(-1)
        with np.errstate(all="ignore"):
            for place, value in zip(sources, g.reshape(-1)):
                flat[place] = flat[place] + value
        return [canonical(total)]


class Embedding:
    @staticmethod
    def forward(step, table, indices):
        return table[indices].reshape(step.shape)

    @staticmethod
    def backward(step, g, y, table, indices):
        total = np.zeros(table.shape, F32)
        with np.errstate(all="ignore"):
            for row, value in zip(indices.reshape(-1), g.reshape(-1, table.shape[-1])):
                total[row] = total[row] + value
        return [canonical(total), None]


class GeluTanh:
    @staticmethod
    def sigmoid(x):
        with np.errstate(all="ignore"):
            v = x * fma(const("-0x1.2444f2p-4"), x * x, const("-0x1.988454p0"))
            return F32(1) + kernels.exp(v)

    @staticmethod
    def forward(step, x):
        with np.errstate(all="ignore"):
            return canonical(x / GeluTanh.sigmoid(x))

    @staticmethod
    def backward(step, g, y, x):
        with np.errstate(all="ignore"):
            s = F32(1) / GeluTanh.sigmoid(x)
            slope = fma(const("0x1.b6676cp-3"), x * x, const("0x1.988454p0"))
            return [canonical(g * (s * fma(x * (F32(1) - s), slope, F32(1))))]


class LayerNorm:
    @staticmethod
    def normal(step, x):
        with np.errstate(all="ignore"):
            n = F32(x.shape[-1])
            mean = kernels.row_sum(x) / n
            u = x - mean[..., None]
            # The row is padded with its mean, so u with +0.
            square = kernels.row_dot(u, u)
            return u, F32(1) / np.sqrt(square / n + F32(float(step.attributes["epsilon"])))

    @staticmethod
    def forward(step, x, w, b):
        u, r = LayerNorm.normal(step, x)
        with np.errstate(all="ignore"):
            return fma(u * r[..., None], w, b)

    @staticmethod
    def backward(step, g, y, x, w, b):
        u, r = LayerNorm.normal(step, x)
        with np.errstate(all="ignore"):
            h, q, n = u * r[..., None], g * w, F32(x.shape[-1])
            a, c = kernels.row_sum(q) / n, kernels.row_dot(q, h) / n
            dx = r[..., None] * fma(h * F32(-1), c[..., None], q - a[..., None])
            dw = np.zeros(w.shape, F32)
            for gradient, normal in zip(g.reshape(-1, g.shape[-1]), h.reshape(-1, h.shape[-1])):
                dw = fma(gradient, normal, dw)
            return [canonical(dx), dw, kernels.rows(g)]


class Attention:
    """Of [batch, position, head, width]; here [batch, head, position, width]."""

    @staticmethod
    def heads(x):
        return np.moveaxis(x, 2, 1)

    @staticmethod
    def weights(step, q, k):
        group = q.shape[1] // k.shape[1]
        scores = times(kernels.product(q, transposed(np.repeat(k, group, 1))), F32(float(step.attributes["scale"])))
        t, s = scores.shape[-2:]
        p = np.zeros(scores.shape, F32)
        for row in range(t):
            seen = row + 1 if step.attributes["causal"] == "1" else s
            p[..., row, :seen] = kernels.softmax(scores[..., row, :seen])
        return p

    @staticmethod
    def forward(step, q, k, v, *mask):
        if mask:
            raise Unsupported("attention with a mask")
        q, k, v = map(Attention.heads, (q, k, v))
        p = Attention.weights(step, q, k)
        return np.moveaxis(kernels.product(p, np.repeat(v, q.shape[1] // v.shape[1], 1)), 1, 2).copy()

    @staticmethod
    def backward(step, g, y, q, k, v):
        q, k, v, g = map(Attention.heads, (q, k, v, g))
        group = q.shape[1] // k.shape[1]
        p = Attention.weights(step, q, k)
        scale = F32(float(step.attributes["scale"]))
        dp = kernels.product(g, transposed(np.repeat(v, group, 1)))
        ds = np.zeros(dp.shape, F32)
        for row in range(dp.shape[-2]):
            seen = row + 1 if step.attributes["causal"] == "1" else dp.shape[-1]
            weight, slope = p[..., row, :seen], dp[..., row, :seen]
            d = kernels.row_dot(slope, weight)[..., None]
            with np.errstate(all="ignore"):
                ds[..., row, :seen] = canonical(times(canonical((slope - d) * weight), scale))
        dq = kernels.product(ds, np.repeat(k, group, 1))
        back = lambda a, b: Attention.over_group(transposed(a), b, group)
        return [np.moveaxis(x, 1, 2).copy() for x in (dq, back(ds, q), back(p, g))]

    @staticmethod
    def over_group(a, b, group):
        """Chains over (heads of the group, then positions)."""
        batch, heads, s, t = a.shape
        a = np.moveaxis(a.reshape(batch, heads // group, group, s, t), 2, 3).reshape(batch, heads // group, s, group * t)
        return kernels.product(a, b.reshape(batch, heads // group, group * t, b.shape[-1]))


class CrossEntropy:
    @staticmethod
    def forward(step, x, targets):
        return F32(0)  # the gradient does not need it

    @staticmethod
    def backward(step, g, y, x, targets):
        flat, marks = x.reshape(-1, x.shape[-1]), targets.reshape(-1)
        kept = marks >= 0
        if not kept.any():
            return [np.zeros(x.shape, F32), None]
        with np.errstate(all="ignore"):
            share = g / F32(kept.sum())
            p = kernels.softmax(flat)
            p[kept, marks[kept]] = p[kept, marks[kept]] - F32(1)
            return [canonical(np.where(kept[:, None], p * share, F32(0))).reshape(x.shape), None]


OPERATIONS = {"linear": Linear, "relu": Relu, "add": Add, "reshape": Reshape, "expand": Expand, "embedding": Embedding,
              "gelu_tanh": GeluTanh, "layer_norm": LayerNorm, "attention": Attention, "cross_entropy": CrossEntropy}


def gradient(graph, parameters, inputs):
    """The flat gradient of the loss at `parameters`, float32 in the order of the graph, on one micro-batch."""
    values = dict(inputs)
    at = 0
    for name, shape in graph.parameters.items():
        size = int(np.prod(shape, dtype=np.int64))
        values[name] = parameters[at:at + size].reshape(shape)
        at += size
    if at != parameters.size:
        raise BadGraph("it has another number of parameters")
    for place, step in graph.instructions.items():
        if step.name not in OPERATIONS:
            raise Unsupported(f"operation {step.name}")
        values[place] = OPERATIONS[step.name].forward(step, *(values[name] for name in step.operands))
    gradients = {graph.loss: F32(1)}
    trained = depends_on_parameters(graph)
    for place, step in reversed(graph.instructions.items()):
        if place not in gradients:
            continue
        operands = [values[name] for name in step.operands]
        parts = OPERATIONS[step.name].backward(step, gradients[place], values[place], *operands)
        for name, part in zip(step.operands, parts):
            if name in trained:
                gradients[name] = add(gradients[name], part) if name in gradients else part
    flat = [np.asarray(gradients.get(name, np.zeros(shape, F32))).reshape(-1) for name, shape in graph.parameters.items()]
    return np.concatenate(flat).astype(F32)


def depends_on_parameters(graph):
    trained = set(graph.parameters)
    for place, step in graph.instructions.items():
        if trained.intersection(step.operands):
            trained.add(place)
    return trained
