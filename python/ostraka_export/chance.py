"""What Python and NumPy draw while a module runs: a trace shows none of it."""
import contextlib
import itertools
import random

import numpy

SEEDS = ((1, 1), (2, 2), (3, 3))  # of Python's and NumPy's generators
RARE = 1e-3  # what a module does as rarely is found


def state():
    name, keys, *rest = numpy.random.get_state()
    return random.getstate(), name, keys.tobytes(), *rest


@contextlib.contextmanager
def kept_generators():
    """Python's and NumPy's are afterwards as they were."""
    before = random.getstate(), numpy.random.get_state()
    try:
        yield
    finally:
        random.setstate(before[0])
        numpy.random.set_state(before[1])


def seeded(seeds, function):
    """(result of function(), whether it moved a generator)."""
    random.seed(seeds[0])
    numpy.random.seed(seeds[1])
    before = state()
    return function(), state() != before


def telling_seeds():
    """More pairs, and such whose first draws are near 0 and near 1: what is rarely left out shows by them."""
    ends = []
    for near in (lambda x: x < RARE, lambda x: x > 1 - RARE):
        ends.append((next(s for s in itertools.count() if near(random.Random(s).random())),
                     next(s for s in itertools.count() if near(numpy.random.RandomState(s).random_sample()))))
    return [*ends, *((seed, seed) for seed in range(10, 18))]
