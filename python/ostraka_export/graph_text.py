"""A graph file (docs/graph.md), line by line."""
import hashlib

import numpy

FROZEN = "constant/1"  # the domains of crypto/domains.h
GRAPH = "graph/1"


def digest(domain, data):
    """crypto::Hash: BLAKE2b-256 with the domain as personalization. Returns 64 hexadecimal digits."""
    return hashlib.blake2b(data, digest_size=32, person=domain.encode().ljust(16, b"\0")).hexdigest()


def float_text(value):
    """The shortest scientific notation that reads back as the same float32: 2e-02."""
    return numpy.format_float_scientific(numpy.float32(value), trim="-", exp_digits=2)


def type_text(element, shape):
    return f"{element}[{','.join(map(str, shape))}]"


def attribute_text(value):
    if isinstance(value, float):
        return float_text(value)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(str, value))}]"
    return str(int(value))


class GraphText:
    """Collects declarations and instructions. The order of each kind is that in which they came."""

    def __init__(self):
        self.parameters = {}  # name: (shape, initial value's text)
        self.constants = {}   # name: little-endian float32 array
        self.inputs = {}      # name: [element, shape, lowest, bound]; bound None until a use gives it
        self.tables = {}      # name of a constant: the integer input of which it has all numbers, a row each
        self.drawn = {}       # name: (shape, keep), in the order in which forward draws
        self._names_of = {}   # hash and shape of a constant: its name
        self._lines = []      # [operation, operands, attributes, shape]
        self.numbers = {}     # of instructions, set by text(): %before: %after
        self.needed = set()   # names of all that the loss depends on: set by text()
        self.used = []        # of `drawn`, what the loss depends on: set by text()

    def constant(self, wanted, array):
        """The name of a constant with these values: `wanted`, or that of an equal one that came before."""
        array = numpy.ascontiguousarray(array, dtype="<f4").reshape(numpy.shape(array))  # a scalar stays one
        key = (digest(FROZEN, array.tobytes()), array.shape)
        if key not in self._names_of:
            name, count = wanted, 1
            while self._is_taken(name):
                count += 1
                name = f"{wanted}.{count}"
            self._names_of[key] = name
            self.constants[name] = array
        return self._names_of[key]

    def _is_taken(self, name):
        return any(name in names for names in (self.parameters, self.constants, self.inputs, self.tables, self.drawn))

    def table(self, of):
        """The name of a constant that text() makes: how many numbers an input may have is known at the end."""
        name = f"numbers.{of}"
        while self._is_taken(name):
            name += "_"
        self.tables[name] = of
        return name

    def draw(self, shape, keep):
        """The name of a new drawn input: each element is 1 / keep with this chance, else 0."""
        number = len(self.drawn) + 1
        while self._is_taken(name := f"drawn.{number}"):
            number += 1
        self.drawn[name] = (tuple(shape), float(keep))
        return name

    def instruction(self, operation, operands, shape, **attributes):
        """Returns the new value's name."""
        self._lines.append((operation, list(operands), attributes, tuple(shape)))
        return f"%{len(self._lines)}"

    def size(self):
        """How many instructions there are."""
        return len(self._lines)

    def instructions(self):
        return iter(self._lines)

    def uses(self, name):
        """The instructions that have this operand."""
        return [line for line in self._lines if name in line[1]]

    def line(self, name):
        """(operation, operands, attributes, shape) of an instruction; None for what is declared."""
        return self._lines[int(name[1:]) - 1] if name.startswith("%") else None

    def text(self, loss):
        """The canonical text, without instructions, constants and draws that the loss does not depend on."""
        needed = self.needed = self._needed(loss)
        for name, of in self.tables.items():
            if name in needed:
                self.constants[name] = numpy.arange(self.inputs[of][3], dtype="<f4").reshape(-1, 1)
        number = self.numbers = {}
        body = []
        for index, (operation, operands, attributes, shape) in enumerate(self._lines, 1):
            if f"%{index}" not in needed:
                continue
            number[f"%{index}"] = f"%{len(number) + 1}"
            words = [number[f"%{index}"], type_text("f32", shape), "=", operation]
            words += [number.get(operand, operand) for operand in operands]
            words += [f"{name}={attribute_text(value)}" for name, value in attributes.items()]
            body.append(" ".join(words))
        self.constants = {name: array for name, array in self.constants.items() if name in needed}
        self.used = [name for name in self.drawn if name in needed]
        return "\n".join(["ostraka-graph 1", *self._declarations(), *body, f"loss {number.get(loss, loss)}"]) + "\n"

    def _needed(self, loss):
        needed, open_ = set(), [loss]
        while open_:
            name = open_.pop()
            if name not in needed:
                needed.add(name)
                if name.startswith("%"):
                    open_ += self._lines[int(name[1:]) - 1][1]
        return needed

    def _declarations(self):
        for name, (shape, initial) in self.parameters.items():
            yield f"parameter {name} {type_text('f32', shape)} {initial}"
        for name, array in self.constants.items():
            yield f"constant {name} {type_text('f32', array.shape)} {digest(FROZEN, array.tobytes())}"
        for name, (element, shape, lowest, bound) in self.inputs.items():
            of_integers = f" {lowest} {bound}" if element == "i32" else ""
            yield f"input {name} {type_text(element, shape)}{of_integers}"
        for name in self.used:
            shape, keep = self.drawn[name]
            yield f"input {name} {type_text('f32', shape)} keep {float_text(keep)}"
