"""The generator of tests and simulations (node/base/rng.h), to draw what a test in C++ draws."""
import numpy as np

MASK = (1 << 64) - 1
STEP = 0x9E3779B97F4A7C15
UNIFORMS = 12  # of a number that is nearly normal


def mix(z):
    z = ((z ^ z >> 30) * 0xBF58476D1CE4E5B9) & MASK
    z = ((z ^ z >> 27) * 0x94D049BB133111EB) & MASK
    return z ^ z >> 31


class Rng:
    def __init__(self, seed):
        self.state = seed

    def next(self):
        self.state = (self.state + STEP) & MASK
        return mix(self.state)

    def below(self, bound):
        refused = (1 << 64) % bound
        value = self.next()
        while value < refused:
            value = self.next()
        return value % bound

    def between(self, low, high):
        return low + self.below(high - low + 1)

    def chance(self, numerator, denominator):
        return self.below(denominator) < numerator

    def normals(self, count):
        """As double; each is the sum of twelve uniforms, less 6."""
        steps = np.arange(1, count * UNIFORMS + 1, dtype=np.uint64)
        z = np.uint64(self.state) + steps * np.uint64(STEP)
        self.state = (self.state + count * UNIFORMS * STEP) & MASK
        z = (z ^ z >> np.uint64(30)) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ z >> np.uint64(27)) * np.uint64(0x94D049BB133111EB)
        units = ((z ^ z >> np.uint64(31)) >> np.uint64(11)).astype(np.float64) * 2.0**-53
        total = np.zeros(count)
        for column in units.reshape(count, UNIFORMS).T:
            total = total + column
        return total - 6.0

    def floats(self, count, scale):
        return np.float32(scale) * self.normals(count).astype(np.float32)

    def fork(self, label, index=0):
        key = mix(self.state ^ 0x6F737472616B61)
        for letter in label.encode():
            key = (mix(key ^ letter) + STEP) & MASK
        return Rng(mix(key ^ mix(index + 1)))
