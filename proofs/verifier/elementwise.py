"""Operations of graphs that treat each element by itself or move elements (docs/numerics.md, 4 to 6).

An operation has forward(step, *operands), which gives its value, and backward(step, g, y, *operands), which gives the contributions to
the gradients of its operands from that of its result y. `step` is the graph's instruction.
"""
import math

import numpy as np

import kernels
from kernels import F32, canonical, const, fma


class Elementwise:
    """Of functions of the operands' elements: value(*operands), and slopes(g, y, *operands), one contribution for each operand."""

    def __init__(self, value, slopes):
        self.value, self.slopes = value, slopes

    def forward(self, step, *operands):
        return canonical(self.value(*operands))

    def backward(self, step, g, y, *operands):
        return [canonical(part) for part in self.slopes(g, y, *operands)]


class WithScalar:
    """The same with the attribute `scalar` as the last argument."""

    def __init__(self, value, slope):
        self.value, self.slope = value, slope

    def forward(self, step, x):
        return canonical(self.value(x, F32(float(step.attributes["scalar"]))))

    def backward(self, step, g, y, x):
        return [canonical(self.slope(g, F32(float(step.attributes["scalar"]))))]


def silu(x):
    return x / (F32(1) + kernels.exp(x * F32(-1)))


def silu_slope(x):
    s = kernels.sigmoid(x)
    return s * fma(x, F32(1) - s, F32(1))


def gelu(x):
    h = x * F32(0.5)
    return fma(h, kernels.erf(x * const("0x1.6a09e6p-1")), h)


def gelu_slope(x):
    c = fma(F32(0.5), kernels.erf(x * const("0x1.6a09e6p-1")), F32(0.5))
    d = kernels.exp((x * x) * F32(-0.5)) * const("0x1.988454p-2")
    return fma(x, d, c)


def gelu_exponent(x):
    return x * fma(const("-0x1.2444f2p-4"), x * x, const("-0x1.988454p0"))


def gelu_tanh(x):
    return x / (F32(1) + kernels.exp(gelu_exponent(x)))


def gelu_tanh_slope(x):
    s = kernels.logistic(gelu_exponent(x))
    slope = fma(const("0x1.b6676cp-3"), x * x, const("0x1.988454p0"))
    return s * fma(x * (F32(1) - s), slope, F32(1))


def where_positive(x, kept):
    return np.where((x > 0) | np.isnan(x), kept, F32(0))


class Reshape:
    @staticmethod
    def forward(step, x):
        return x.reshape(step.shape)

    @staticmethod
    def backward(step, g, y, x):
        return [g.reshape(x.shape)]


class Permute:
    @staticmethod
    def order(step):
        return [int(axis) for axis in step.attributes["order"].strip("[]").split(",")]

    @staticmethod
    def forward(step, x):
        return np.transpose(x, Permute.order(step))

    @staticmethod
    def backward(step, g, y, x):
        return [np.transpose(g, np.argsort(Permute.order(step)))]


class Expand:
    @staticmethod
    def forward(step, x):
        return np.broadcast_to(x, step.shape)

    @staticmethod
    def backward(step, g, y, x):
        """Sums over the axes that repeat, in row-major order of the result."""
        missing = g.ndim - x.ndim
        repeats = [axis for axis in range(g.ndim) if axis < missing or x.shape[axis - missing] != g.shape[axis]]
        kept = [axis for axis in range(g.ndim) if axis not in repeats]
        copies = math.prod(g.shape[axis] for axis in repeats)
        apart = np.transpose(g, repeats + kept).reshape([copies] + [g.shape[axis] for axis in kept])
        return [kernels.rows(apart).reshape(x.shape)]


class Cat:
    @staticmethod
    def forward(step, *parts):
        return np.concatenate(parts, int(step.attributes["axis"]))

    @staticmethod
    def backward(step, g, y, *parts):
        axis = int(step.attributes["axis"])
        return np.split(g, np.cumsum([part.shape[axis] for part in parts])[:-1], axis)


class Slice:
    @staticmethod
    def places(step):
        begin, end = int(step.attributes["begin"]), int(step.attributes["end"])
        return (slice(None),) * int(step.attributes["axis"]) + (slice(begin, end),)

    @staticmethod
    def forward(step, x):
        return x[Slice.places(step)]

    @staticmethod
    def backward(step, g, y, x):
        whole = np.zeros(x.shape, F32)
        whole[Slice.places(step)] = g
        return [whole]


class StopGradient:
    @staticmethod
    def forward(step, x):
        return x

    @staticmethod
    def backward(step, g, y, x):
        return []


MINUS = F32(-1)
OPERATIONS = {
    "reshape": Reshape, "stop_gradient": StopGradient, "permute": Permute, "expand": Expand, "cat": Cat, "slice": Slice,
    "add": Elementwise(lambda a, b: a + b, lambda g, y, a, b: (g, g)),
    "sub": Elementwise(lambda a, b: a - b, lambda g, y, a, b: (g, g * MINUS)),
    "mul": Elementwise(lambda a, b: a * b, lambda g, y, a, b: (g * b, g * a)),
    "div": Elementwise(lambda a, b: a / b, lambda g, y, a, b: (g / b, (g * ((a / b) / b)) * MINUS)),
    "add_scalar": WithScalar(lambda x, s: x + s, lambda g, s: g),
    "mul_scalar": WithScalar(lambda x, s: x * s, lambda g, s: g * s),
    "div_scalar": WithScalar(lambda x, s: x / s, lambda g, s: g / s),
    "rsqrt": Elementwise(lambda x: F32(1) / np.sqrt(x), lambda g, y, x: [g * (((y * y) * y) * F32(-0.5))]),
    "tanh": Elementwise(kernels.tanh, lambda g, y, x: [g * fma(y * MINUS, y, F32(1))]),
    "sigmoid": Elementwise(kernels.sigmoid, lambda g, y, x: [g * (y * (F32(1) - y))]),
    "silu": Elementwise(silu, lambda g, y, x: [g * silu_slope(x)]),
    "gelu": Elementwise(gelu, lambda g, y, x: [g * gelu_slope(x)]),
    "gelu_tanh": Elementwise(gelu_tanh, lambda g, y, x: [g * gelu_tanh_slope(x)]),
    "relu": Elementwise(lambda x: where_positive(x, x), lambda g, y, x: [where_positive(x, g)]),
}
