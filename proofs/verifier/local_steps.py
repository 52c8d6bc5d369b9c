"""What a worker sends of a step with local steps: how far these go (docs/numerics.md, 10)."""
import math

import numpy as np

import kernels
from hashing import hashed, u64

F32 = np.float32
NORM_BLOCK = 4096
COSINE = [float.fromhex(text) for text in (
    "-0x1.52ae4120fde27p-34", "0x1.ef6e308d6d1c4p-29", "-0x1.2a0c591af8314p-23", "0x1.20c62c2f2d7f5p-18",
    "-0x1.b6e24f44b128fp-14", "0x1.f9d38a3763cc3p-10", "-0x1.a6d1f2a204a8cp-6", "0x1.e1f506891babbp-3",
    "-0x1.55d3c7e3cbffap0", "0x1.03c1f081b5ac4p2", "-0x1.3bd3cc9be45dep2", "0x1p0")]


def cosine(x):
    z = x * x
    s = COSINE[0]
    for c in COSINE[1:]:
        s = s * z + c
    return s


def half_cosine(n, m):
    return (1 - cosine((m - n) / m)) * 0.5 if n > m - n else (1 + cosine(n / m)) * 0.5


def power(b, n):
    r = 1.0
    while n:
        if n & 1:
            r = r * b
        b = b * b
        n >>= 1
    return r


def finite(x):
    return np.where(np.isfinite(x), x, F32(0)).astype(F32)


def norm(gradient):
    total = 0.0
    for at in range(0, gradient.size, NORM_BLOCK):
        block = gradient[at:at + NORM_BLOCK]
        total += float(kernels.row_dot(block, block))
    return math.sqrt(total)


class Mean:
    """A worker's gradients, each the mean over its count of batches."""

    def __init__(self, seed, batches, steps, gradient):
        self.seed, self.batches, self.gradient = seed, batches, gradient
        self.alone = steps == 1 and batches == 1

    def __call__(self, parameters, step):
        with np.errstate(all="ignore"):
            total = None
            for batch in range(self.batches):
                seed = self.seed if self.alone else hashed("batch.inner/1", self.seed, u64(step), u64(batch))
                g = finite(self.gradient(parameters, seed))
                total = g if total is None else total + g
            return finite(total if self.batches == 1 else total * F32(1 / self.batches))


class Plan:
    """The local steps of a run, by its manifest. Of one without: count is 1."""

    def __init__(self, manifest):
        inner, training = manifest.get("inner", {}), manifest["training"]
        self.count = int(inner.get("steps", 1))
        if self.count == 1:
            return
        self.rate, self.warmup, self.clip = float(inner["learning_rate"]), int(inner["warmup_steps"]), float(inner["clip_norm"])
        self.beta1, self.beta2 = float(inner["beta1"]), float(inner["beta2"])
        self.epsilon, self.decay = float(inner["epsilon"]), float(inner["weight_decay"])
        self.end = int(training["steps"]) - int(training["settle_steps"])
        self.rises, self.schedule, self.falls = (int(training["warmup_steps"]), str(training["schedule"]),
                                                 int(training["decay_steps"]))

    def rate_at(self, step):
        """The rate of a step's local steps at its peak, a double."""
        if step >= self.end:
            return 0.0
        if step < self.rises:
            return self.rate * (step + 1) / self.rises
        left, whole = self.end - step, self.end - self.rises
        if self.schedule == "linear":
            return self.rate * left / whole
        if self.schedule == "cosine":
            return self.rate * half_cosine(whole - left, whole)
        if self.schedule == "wsd":
            return self.rate if left >= self.falls else self.rate * left / self.falls
        return self.rate

    def distance(self, parameters, step, mean):
        """x - y from `parameters`; `mean(y, h)` computes the gradient of local step h."""
        rate = self.rate_at(step)
        if rate == 0:
            return np.zeros_like(parameters)
        y, m, v = parameters.copy(), np.zeros_like(parameters), np.zeros_like(parameters)
        with np.errstate(all="ignore"):
            for h in range(self.count):
                y, m, v = self.adamw(y, m, v, self.clipped(mean(y, h)), h, rate)
            return finite(parameters - y)

    def clipped(self, g):
        length = norm(g)
        return g * F32(self.clip / length) if length > self.clip else g

    def adamw(self, y, m, v, g, h, rate):
        r = F32(rate if h + 1 >= self.warmup else rate * ((h + 1) / self.warmup))
        m = F32(self.beta1) * m + F32(1 - self.beta1) * g
        v = F32(self.beta2) * v + F32(1 - self.beta2) * (g * g)
        u = (m * F32(1 / (1 - power(self.beta1, h + 1)))) / (
            np.sqrt(v) * F32(1 / math.sqrt(1 - power(self.beta2, h + 1))) + F32(self.epsilon))
        y = y - r * (u + F32(self.decay) * y)
        return kernels.canonical(y), self.slot(m), self.slot(v)

    @staticmethod
    def slot(x):
        """As a slot is stored: no subnormals."""
        x = kernels.canonical(x)
        return np.where(np.abs(x) < F32(2.0**-126), F32(0), x)
