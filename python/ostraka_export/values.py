"""What a value of the traced program is while it is lowered."""
import collections.abc
import dataclasses

import torch


@dataclasses.dataclass(frozen=True)
class Tensor:
    """A value that a node computes, or a parameter: a name in the graph file, and its shape."""
    name: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Known:
    """A value that depends on no parameter and no input: computed here, once. Written only where it is used."""
    tensor: torch.Tensor
    name: str | None = None  # of the buffer or frozen parameter that it is

    @property
    def shape(self):
        return tuple(self.tensor.shape)


@dataclasses.dataclass(frozen=True)
class Integers:
    """An integer input under some shape: graph files reshape no integers, so their uses are reshaped instead."""
    name: str
    shape: tuple[int, ...]


@dataclasses.dataclass(frozen=True)
class Whole:
    """Integers or truths that are computed: a tensor of these numbers, as graph files have no others."""
    tensor: Tensor
    dtype: torch.dtype
    source: str | None = None  # the input whose numbers they are, moved
    most: collections.abc.Callable[[], int] | None = None  # how large they may be, when all bounds are known

    @property
    def shape(self):
        return self.tensor.shape

    def is_truth(self):
        return self.dtype == torch.bool


@dataclasses.dataclass(frozen=True)
class Kept:
    """1 with the probability `keep`, else 0, for each element: what dropout draws before it divides by `keep`."""
    drawn: Tensor  # that quotient, an input of the graph
    keep: float
    written: collections.abc.Callable[[], Tensor]

    @property
    def shape(self):
        return self.drawn.shape


@dataclasses.dataclass(frozen=True)
class LogSoftmax:
    """log_softmax along the last axis: a negative log likelihood takes its logits, and else it is written out."""
    logits: Tensor
    written: collections.abc.Callable[[], Tensor]

    @property
    def shape(self):
        return self.logits.shape
