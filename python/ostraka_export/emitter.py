"""Instructions of ostraka ops/2 on values: shapes are inferred, nothing is written that changes nothing."""
import math

import numpy
import torch

from ostraka_export.errors import Unsupported
from ostraka_export.values import Integers, Kept, Known, LogSoftmax, Tensor, Whole

LARGEST = float(numpy.finfo(numpy.float32).max)
MOST_ELEMENTS = 2 ** 31 - 1  # of a tensor (docs/graph.md)
MOST_CONSTANT = 2 ** 24      # of a constant that a lowering makes: 64 MiB of float32


class Emitter:
    """Writes into one GraphText."""

    def __init__(self, graph):
        self.graph = graph
        self.trained = {}    # name: parameter
        self.left_out = set()  # integer inputs that may be -1: targets of a cross_entropy
        self.smoothed = set()  # those whose cross_entropy is smoothed over all targets, left out or not
        self._made = {}      # by what made it: once()
        self._reshaped = {}  # the result of a reshape: what it is of
        self._permuted = {}  # the result of a permute: what it is of, and the order
        self._trained = {}   # of each instruction: whether a gradient passes from it to a parameter

    # What an operand is.

    def tensor(self, value, what="it"):
        """A Tensor of this value; Known values become constants of the file."""
        if isinstance(value, Tensor):
            return value
        if isinstance(value, (int, float)):
            value = Known(torch.tensor(float(value)))
        if isinstance(value, Known):
            if value.tensor.is_complex():
                raise Unsupported("complex numbers; write the rotation with cos and sin")
            array = value.tensor.detach().to(torch.float32).cpu().numpy()
            if numpy.isnan(array).any():
                raise Unsupported(f"{what} has NaN, or memory that nothing was written to")
            return Tensor(self.graph.constant(value.name or "folded", array), value.shape)
        if isinstance(value, Integers):
            return self.numbers(value)
        if isinstance(value, Whole):
            return value.tensor
        if isinstance(value, (Kept, LogSoftmax)):
            return value.written()
        if value is None:
            raise Unsupported("a second result of an operator (places of the largest, statistics) is not written yet")
        raise Unsupported(f"{what} is a {type(value).__name__}")

    @staticmethod
    def scalar(value):
        """The number that a Python number, or a Known of equal elements, is; else None."""
        if isinstance(value, (bool, int, float)):
            return float(value)
        if isinstance(value, Known) and value.tensor.numel() > 0 and not value.tensor.is_complex():
            flat = value.tensor.detach().flatten()
            if bool((flat == flat[0]).all()):
                return float(flat[0])
        return None

    # Shapes.

    def shape_of(self, name):
        """Of an instruction or a parameter; None for anything else."""
        line = self.graph.line(name)
        if line is not None:
            return line[3]
        return self.graph.parameters[name][0] if name in self.graph.parameters else None

    def apply(self, operation, operands, shape, **attributes):
        if math.prod(shape) > MOST_ELEMENTS:
            raise Unsupported(f"a tensor of {math.prod(shape)} numbers on the way; a graph has at most "
                              f"{MOST_ELEMENTS}: a smaller batch or image")
        names = [operand.name for operand in operands]
        return Tensor(self.graph.instruction(operation, names, shape, **attributes), tuple(shape))

    def reshape(self, x, shape):
        shape = tuple(shape)
        x = self._reshaped.get(x.name, x)
        if x.shape == shape:
            return x
        result = self.apply("reshape", [x], shape)
        self._reshaped[result.name] = x
        return result

    def permute(self, x, order):
        order = [axis % len(x.shape) for axis in order]
        if x.name in self._permuted:
            x, before = self._permuted[x.name]
            order = [before[axis] for axis in order]
        if order == list(range(len(order))):
            return x
        result = self.apply("permute", [x], [x.shape[axis] for axis in order], order=order)
        self._permuted[result.name] = x, order
        return result

    def stopped(self, x):
        """x, as if it depended on no parameter."""
        trained = self._trained
        for index in range(len(trained) + 1, self.graph.size() + 1):
            operation, operands, *_ = self.graph.line(f"%{index}")
            trained[f"%{index}"] = operation != "stop_gradient" and any(
                trained.get(operand, operand in self.trained) for operand in operands)
        return self.apply("stop_gradient", [x], x.shape) if trained.get(x.name, x.name in self.trained) else x

    def expand(self, x, shape):
        shape = tuple(shape)
        return x if x.shape == shape else self.apply("expand", [x], shape)

    def slice(self, x, axis, begin, end):
        if (begin, end) == (0, x.shape[axis]):
            return x
        assert begin < end, "what is empty is a Known"
        shape = list(x.shape)
        shape[axis] = end - begin
        return self.apply("slice", [x], shape, axis=axis, begin=begin, end=end)

    def cat(self, parts, axis):
        most = 64  # operands of an instruction
        while len(parts) > 1:
            parts = [self._cat_few(parts[i:i + most], axis) for i in range(0, len(parts), most)]
        return parts[0]

    def _cat_few(self, parts, axis):
        if len(parts) == 1:
            return parts[0]
        shape = list(parts[0].shape)
        shape[axis] = sum(part.shape[axis] for part in parts)
        return self.apply("cat", parts, shape, axis=axis)

    def filled(self, shape, number):
        """A tensor of one number, which costs the file one."""
        return self.expand(self.tensor(Known(torch.tensor(float(number)), "filled")), shape)

    def moved_last(self, x, axis, function):
        """function(x with this axis last), which keeps the other axes; and the axis moved back."""
        there, back = self.axis_last(len(x.shape), axis)
        return self.permute(function(self.permute(x, there)), back)

    @staticmethod
    def axis_last(rank, axis):
        """The order of axes that has this one last, and the one that moves it back."""
        there = [i for i in range(rank) if i != axis] + [axis]
        return there, [there.index(i) for i in range(rank)]

    def once(self, make, *arguments):
        """make(emitter, *arguments), which is written once for all that ask with equal arguments."""
        if (make, arguments) not in self._made:
            self._made[make, arguments] = make(self, *arguments)
        return self._made[make, arguments]

    def product_along(self, x, axis, matrix):
        """The sum over i of x[.., i, ..] * matrix[i, j] at .., j, .. along an axis; the matrix is known."""
        def product(x):
            rows = math.prod(x.shape[:-1])
            result = self.apply("matmul", [self.reshape(x, (rows, x.shape[-1])), matrix], (rows, matrix.shape[1]))
            return self.reshape(result, x.shape[:-1] + (matrix.shape[1],))
        self.require_small(matrix.shape)
        matrix = self.tensor(matrix)
        return self.moved_last(x, axis, product)

    @staticmethod
    def require_small(shape):
        if math.prod(shape) > MOST_CONSTANT:
            raise Unsupported(f"it needs a constant of {math.prod(shape)} numbers, and a lowering makes at most "
                              f"{MOST_CONSTANT}: fewer positions or pixels")

    # Arithmetic.

    def scaled(self, x, number):
        return x if number == 1 else self.apply("mul_scalar", [x], x.shape, scalar=self.finite(number))

    def shifted(self, x, number):
        return x if number == 0 else self.apply("add_scalar", [x], x.shape, scalar=self.finite(number))

    @staticmethod
    def finite(number):
        if not abs(number) <= LARGEST:
            raise Unsupported(f"the number {number}; graph files have finite ones of float32")
        return float(number)

    def elementwise(self, operation, a, b, shape):
        """One of add, sub, mul, div on operands that are expanded to `shape`."""
        a, b = (self.expand(self.tensor(x), shape) for x in (a, b))
        return self.apply(operation, [a, b], shape)

    def unary(self, operation, x):
        return self.apply(operation, [x], x.shape)

    def reduced(self, operation, x, axes, keep):
        """sum or mean over several axes at once: they are moved to the end and joined."""
        axes = sorted(axis % len(x.shape) for axis in axes)
        kept = [axis for axis in range(len(x.shape)) if axis not in axes]
        count = math.prod(x.shape[axis] for axis in axes)
        outer = [x.shape[axis] for axis in kept]
        if axes == [len(x.shape) - 1] or len(axes) == 1:
            result = self.apply(operation, [x], outer, axis=axes[0])
        else:
            joined = self.reshape(self.permute(x, kept + axes), [*outer, count])
            result = self.apply(operation, [joined], outer, axis=len(outer))
        if keep:
            result = self.reshape(result, [1 if axis in axes else extent for axis, extent in enumerate(x.shape)])
        return result

    def dropped(self, x, p, shape=None):
        """Dropout of x with the probability p, by draws of `shape` (that of x, or one that expands to it)."""
        if p == 1:
            return self.filled(x.shape, 0)
        drawn = self.kept(shape or x.shape, 1 - p).drawn
        return self.apply("mul", [x, self.expand(drawn, x.shape)], x.shape)

    def kept(self, shape, keep):
        """A draw of 1 with the probability `keep`, else 0, for each element."""
        if not 0 < numpy.float32(keep) < 1:
            raise Unsupported(f"dropout that keeps an element with the probability {keep}: more than 0 and less than 1 "
                              "in float32")
        drawn = Tensor(self.graph.draw(shape, keep), tuple(shape))
        return Kept(drawn, keep, lambda: self.unary("tanh", self.scaled(drawn, 1e30)))  # 1 or 0 to the bit

    def nearest(self, x):
        """The nearest whole number, of two the even one, below 2^22 in size. It passes no gradient."""
        rounder = 1.5 * 2 ** 23
        return self.stopped(self.shifted(self.shifted(x, rounder), -rounder))

    # Integers.

    def bound(self, integers, lowest, bound):
        """Narrows an input's range to what this use allows."""
        known = self.graph.inputs[integers.name]
        known[2] = lowest if known[2] is None else max(known[2], lowest)
        if bound is not None:
            known[3] = bound if known[3] is None else min(known[3], bound)

    def numbers(self, integers):
        """The integers as floats: rows of a table of all numbers that the input may have."""
        self.bound(integers, 0, None)
        return self.reshape(self.once(Emitter._looked_up, integers.name), integers.shape)

    def _looked_up(self, name):
        integers = Integers(name, self.graph.inputs[name][1])
        return self.apply("embedding", [Tensor(self.graph.table(name), ()), integers], (*integers.shape, 1))

    def places_below(self, places, count):
        """Narrows the input of which these are the numbers, if they are one's."""
        name = places.name if isinstance(places, Integers) else getattr(places, "source", None)
        if name is not None:
            self.bound(Integers(name, ()), 0, count)

    def original(self, integers):
        """The shape in which the graph has this input."""
        return self.graph.inputs[integers.name][1]
