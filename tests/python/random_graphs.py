"""Random graph files over all operations (docs/graph.md): each step has operands among the values above it."""
import math

UNARY = ["rsqrt", "tanh", "sigmoid", "silu", "gelu", "gelu_tanh", "relu", "softmax", "stop_gradient"]
SCALARS = ["0e+00", "1e+00", "-2.5e+00", "3e-01", "7e+04"]


def text_of(shape):
    return "f32[" + ",".join(map(str, shape)) + "]"


class GraphMaker:
    def __init__(self, rng):
        self.rng, self.parameters, self.inputs, self.steps, self.values = rng, [], [], [], []
        for _ in range(rng.randint(2, 3)):
            self.parameter([rng.randint(1, 5) for _ in range(rng.randint(1, 4))])

    def parameter(self, shape):
        name = f"p{len(self.parameters)}"
        self.parameters.append(f"parameter {name} {text_of(shape)} normal 1e+00")
        self.values.append((name, list(shape)))
        return name

    def input(self, shape):
        """Floats, of which no gradient is computed."""
        name = f"x{len(self.inputs)}"
        self.inputs.append(f"input {name} {text_of(shape)}")
        return name

    def integers(self, shape, lowest, bound):
        name = f"i{len(self.inputs)}"
        self.inputs.append(f"input {name} i{text_of(shape)[1:]} {lowest} {bound}")
        return name

    def step(self, shape, operation):
        name = f"%{len(self.steps) + 1}"
        self.steps.append(f"{name} {text_of(shape)} = {operation}")
        if shape:  # a scalar is no operand of most
            self.values.append((name, list(shape)))
        return name

    def like(self, shape):
        """A value of that shape: an old one, a parameter or an input."""
        old = [name for name, other in self.values if other == shape]
        if old and self.rng.random() < 0.7:
            return self.rng.choice(old)
        return self.parameter(shape) if self.rng.random() < 0.8 else self.input(shape)

    def grow(self):
        x, shape = self.rng.choice(self.values)
        self.rng.choice([self.elementwise, self.elementwise, self.moved, self.joined, self.summed, self.multiplied, self.normed,
                         self.attended, self.chosen])(x, shape)

    def elementwise(self, x, shape):
        kind = self.rng.randrange(3)
        if kind == 0:
            self.step(shape, f"{self.rng.choice(UNARY)} {x}")
        elif kind == 1:
            self.step(shape, f"{self.rng.choice(['add', 'sub', 'mul', 'div'])} {x} {self.like(shape)}")
        else:
            name = self.rng.choice(["add_scalar", "mul_scalar", "div_scalar"])
            self.step(shape, f"{name} {x} scalar={self.rng.choice(SCALARS)}")

    def moved(self, x, shape):
        kind = self.rng.randrange(3)
        if kind == 0:
            self.step([math.prod(shape)], f"reshape {x}")
        elif kind == 1:
            order = list(range(len(shape)))
            self.rng.shuffle(order)
            self.step([shape[axis] for axis in order], f"permute {x} order=[{','.join(map(str, order))}]")
        elif math.prod(shape) < 200 and len(shape) < 6:
            wider = [extent if extent > 1 else self.rng.randint(1, 3) for extent in shape]
            self.step([self.rng.randint(1, 3) for _ in range(self.rng.randint(0, 2))] + wider, f"expand {x}")

    def joined(self, x, shape):
        axis = self.rng.randrange(len(shape))
        if self.rng.random() < 0.5:
            begin = self.rng.randrange(shape[axis])
            end = self.rng.randint(begin + 1, shape[axis])
            self.step(shape[:axis] + [end - begin] + shape[axis + 1:], f"slice {x} axis={axis} begin={begin} end={end}")
        elif math.prod(shape) < 200:
            self.step(shape[:axis] + [3 * shape[axis]] + shape[axis + 1:], f"cat {x} {self.like(shape)} {x} axis={axis}")

    def summed(self, x, shape):
        axis = self.rng.randrange(len(shape))
        if len(shape) > 1:
            self.step(shape[:axis] + shape[axis + 1:], f"{self.rng.choice(['sum', 'mean'])} {x} axis={axis}")

    def multiplied(self, x, shape):
        columns = self.rng.randint(1, 19)
        if len(shape) > 1 and self.rng.random() < 0.5:
            other = self.like(shape[:-2] + [shape[-1], columns])
            self.step(shape[:-1] + [columns], f"matmul {x} {other}")
        else:
            bias = [self.like([columns])] if self.rng.random() < 0.5 else []
            self.step(shape[:-1] + [columns], " ".join(["linear", x, self.like([columns, shape[-1]]), *bias]))

    def normed(self, x, shape):
        epsilon = self.rng.choice(["0e+00", "1e-05"])
        weight = self.like(shape[-1:])
        if self.rng.random() < 0.5:
            self.step(shape, f"layer_norm {x} {weight} {self.like(shape[-1:])} epsilon={epsilon}")
        else:
            self.step(shape, f"rms_norm {x} {weight} epsilon={epsilon}")

    def attended(self, x, shape):
        if len(shape) != 4:
            return
        batch, positions, heads, width = shape
        causal = self.rng.randrange(2)
        keys = positions if causal else self.rng.randint(1, 18)
        groups = self.rng.choice([n for n in range(1, heads + 1) if heads % n == 0])
        key, value = (self.like([batch, keys, groups, width]) for _ in range(2))
        mask = [self.input([positions, keys])] if self.rng.random() < 0.3 else []
        self.step(shape, " ".join(["attention", x, key, value, *mask, f"causal={causal}", "scale=7e-01"]))

    def chosen(self, x, shape):
        """By integers: rows of a table, or the targets of a loss."""
        if len(shape) == 2 and self.rng.random() < 0.5:
            places = [self.rng.randint(1, 4) for _ in range(self.rng.randint(1, 2))]
            self.step(places + shape[1:], f"embedding {x} {self.integers(places, 0, shape[0])}")
        else:
            loss = self.step([], f"cross_entropy {x} {self.integers(shape[:-1], -1, shape[-1])}")
            self.step([1], f"reshape {loss}")

    def text(self, steps):
        """A file of at least so many steps, whose loss is a sum over several of its values."""
        while len(self.steps) < steps:
            self.grow()
        last = [self.step([math.prod(shape)], f"reshape {name}") for name, shape in self.values[-4:]]
        count = sum(self.values[-1 - i][1][0] for i in range(len(last)))
        joined = self.step([count], f"cat {' '.join(last)} axis=0")
        loss = self.step([], f"sum {joined} axis=0")
        return "\n".join(["ostraka-graph 1", *self.parameters, *self.inputs, *self.steps, f"loss {loss}"]) + "\n"
