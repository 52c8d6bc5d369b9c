"""Writes ostraka.pyi, the type stubs, from the module's own descriptions.

usage: make_stubs.py OUT.pyi          with the module on PYTHONPATH
"""
import sys

import ostraka

HEAD = '''"""{doc}"""
# Made by python/make_stubs.py from the registries of aggregation/.
from typing import Any, Iterable, Literal, Protocol, Sequence, TypedDict, Union

import numpy
import numpy.typing

__version__: str
_Array = numpy.typing.NDArray[Any]


class _Tensor(Protocol):  # of torch, or anything else that shows its memory by DLPack
    def __dlpack__(self) -> Any: ...
    def __dlpack_device__(self) -> Any: ...


_Rows = Union[_Array, _Tensor, Sequence[Union[_Array, _Tensor]]]
_Pre = Union[None, str, Sequence[str]]


class Report(TypedDict):
    selected: list[int]
    dropped: list[int]
    scores: list[float]
    weights: list[float]
    iterations: int
    residual: float


class State:
    def __init__(self) -> None: ...
    def copy(self) -> "State": ...


class Memory:
    def __init__(self) -> None: ...
    def copy(self) -> "Memory": ...


class Pipeline:
    def __init__(self, rule: str, *, pre: _Pre = None, drop_invalid: bool = False,
                 **parameters: Union[int, float, str]) -> None: ...
    def __call__(self, rows: _Rows, *, reference: Any = None, state: Union[State, None] = None,
                 threads: Union[int, None] = None, report: bool = False) -> Any: ...
    def __repr__(self) -> str: ...
    @property
    def rule(self) -> str: ...
    @property
    def stateful(self) -> bool: ...


class Graph:
    def __init__(self, path: str, *, constants: Any = None, threads: Union[int, None] = None) -> None: ...
    def gradient(self, parameters: dict[str, Any], *, device: str = "cpu",
                 **inputs: Any) -> tuple[float, dict[str, _Array]]: ...
    def notices(self) -> list[str]: ...
    def loss(self, parameters: dict[str, Any], **inputs: Any) -> float: ...
    @property
    def id(self) -> str: ...
    @property
    def text(self) -> str: ...
    @property
    def parameters(self) -> dict[str, tuple[int, ...]]: ...
    @property
    def inputs(self) -> dict[str, str]: ...
    @property
    def peak_bytes(self) -> int: ...
    @property
    def operations(self) -> int: ...


class data:  # a module
    @staticmethod
    def pack(texts: Iterable[str], tokenizer: Any, path: Any, *, context: int,
             vocabulary: Union[int, None] = None, end: Union[int, None] = None,
             overwrite: bool = False) -> dict[str, Any]: ...
    @staticmethod
    def from_bin(path: Any, out: Any, *, vocabulary: int, context: int, dtype: str = "u2",
                 overwrite: bool = False) -> dict[str, Any]: ...


def export(module: Any, example: Any, path: Any, *, loss: Union[None, Literal["cross_entropy"]] = None,
           initial: Union[dict[str, str], None] = None, overwrite: bool = False,
           check: bool = True) -> Any: ...
def aggregate(rule: str, rows: _Rows, *, pre: _Pre = None, drop_invalid: bool = False,
              reference: Any = None, state: Union[State, None] = None,
              threads: Union[int, None] = None, report: bool = False,
              **parameters: Union[int, float, str]) -> Any: ...
def attack(name: str, honest: _Rows, *, byzantine: int = 1, seed: int = 0, step: int = 0,
           own: Any = None, rule: Union[Pipeline, None] = None,
           memory: Union[Memory, None] = None, threads: Union[int, None] = None,
           **parameters: Union[int, float, str]) -> Any: ...
def mix(pre: _Pre, rows: _Rows, *, f: Union[int, None] = None, state: Union[State, None] = None,
        threads: Union[int, None] = None) -> Any: ...
def devices() -> list[dict[str, Any]]: ...
def list_rules() -> list[dict[str, Any]]: ...
def list_pre() -> list[dict[str, Any]]: ...
def list_attacks() -> list[dict[str, Any]]: ...
'''
RULE_TAIL = ("pre: _Pre = None", "drop_invalid: bool = False", "reference: Any = None",
             "state: Union[State, None] = None", "threads: Union[int, None] = None",
             "report: bool = False")
ATTACK_HEAD = ("byzantine: int = 1", "seed: int = 0", "step: int = 0", "own: Any = None",
               "rule: Union[Pipeline, None] = None", "memory: Union[Memory, None] = None",
               "threads: Union[int, None] = None")


def annotation(parameter):
    if parameter["type"] == "choice":
        return "Literal[" + ", ".join(repr(name) for name in parameter["choices"]) + "]"
    return {"integer": "int", "real": "float"}[parameter["type"]]


def keyword(parameter):
    kind = annotation(parameter)
    if parameter["required"]:
        return f"{parameter['keyword']}: {kind}"
    if parameter["derived"]:
        return f"{parameter['keyword']}: {kind} = ..."
    default = parameter["default"]
    return f"{parameter['keyword']}: {kind} = {default!r}" if kind.startswith("Literal") else \
        f"{parameter['keyword']}: {kind} = {default}"


def function(name, first, keywords):
    lines = [f"    @staticmethod", f"    def {name}({first}: _Rows, *,"]
    lines += [f"        {word}," for word in keywords]
    return "\n".join(lines) + "\n    ) -> Any: ..."


def main(path):
    parts = [HEAD.format(doc=ostraka.__doc__)]
    parts.append("class rules:  # a module\n" + "\n".join(
        function(rule["name"], "rows", [keyword(p) for p in rule["parameters"]] + list(RULE_TAIL))
        for rule in ostraka.list_rules()))
    parts.append("class attacks:  # a module\n" + "\n".join(
        function(attack["name"], "honest",
                 list(ATTACK_HEAD) + [keyword(p) for p in attack["parameters"]])
        for attack in ostraka.list_attacks()))
    with open(path, "w", encoding="utf-8") as file:
        file.write("\n\n".join(parts) + "\n")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
