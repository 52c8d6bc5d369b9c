"""Operations of graphs that sum: products, rows, attention (docs/numerics.md, 3, 5 and 6). Their form is that of elementwise.py."""
import numpy as np

import kernels
from kernels import F32, canonical, fma


def transposed(w):
    return np.swapaxes(w, -1, -2)


def flat(x):
    """As a matrix of rows along the last axis."""
    return x.reshape(-1, x.shape[-1])


class Linear:
    @staticmethod
    def forward(step, x, w, *bias):
        y = kernels.product(flat(x), transposed(w))
        return (canonical(y + bias[0]) if bias else y).reshape(step.shape)

    @staticmethod
    def backward(step, g, y, x, w, *bias):
        dx = kernels.product(flat(g), w).reshape(x.shape)
        dw = kernels.product(transposed(flat(g)), flat(x))
        return [dx, dw] + ([kernels.rows(flat(g))] if bias else [])


class Matmul:
    @staticmethod
    def forward(step, a, b):
        return kernels.product(a, b)

    @staticmethod
    def backward(step, g, y, a, b):
        return [kernels.product(g, transposed(b)), kernels.product(transposed(a), g)]


class Embedding:
    @staticmethod
    def forward(step, table, indices):
        return table[indices]

    @staticmethod
    def backward(step, g, y, table, indices):
        total = np.zeros(table.shape, F32)
        for row, value in zip(indices.reshape(-1), flat(g)):
            total[row] = total[row] + value
        return [canonical(total), None]


class Sum:
    """Along an axis; a mean divides by its extent, of the sum and of the gradient."""

    def __init__(self, divides):
        self.divides = divides

    def forward(self, step, x):
        axis = int(step.attributes["axis"])
        total = kernels.row_sum(x) if axis == x.ndim - 1 else kernels.rows(np.moveaxis(x, axis, 0))
        return canonical(total / F32(x.shape[axis])) if self.divides else total

    def backward(self, step, g, y, x):
        axis = int(step.attributes["axis"])
        share = canonical(g / F32(x.shape[axis])) if self.divides else np.asarray(g)
        return [np.broadcast_to(np.expand_dims(share, axis), x.shape)]


class Softmax:
    @staticmethod
    def forward(step, x):
        return kernels.softmax(x)

    @staticmethod
    def backward(step, g, y, x):
        return [kernels.softmax_backward(g, y)]


class CrossEntropy:
    @staticmethod
    def losses(x, targets):
        """Of rows that count."""
        m = kernels.row_max(x)
        s = kernels.row_sum(kernels.exp(x - m[..., None]))
        return canonical(kernels.log(s) - (x[np.arange(len(x)), targets] - m))

    @staticmethod
    def forward(step, x, targets):
        marks = targets.reshape(-1)
        kept = marks >= 0
        losses = np.zeros(len(marks), F32)
        losses[kept] = CrossEntropy.losses(flat(x)[kept], marks[kept])
        return canonical(kernels.row_sum(losses) / F32(kept.sum())) if kept.any() else F32(0)

    @staticmethod
    def backward(step, g, y, x, targets):
        marks = targets.reshape(-1)
        kept = marks >= 0
        if not kept.any():
            return [np.zeros(x.shape, F32), None]
        p = kernels.softmax(flat(x))
        p[kept, marks[kept]] = p[kept, marks[kept]] - F32(1)
        share = g / F32(kept.sum())
        return [canonical(np.where(kept[:, None], p * share, F32(0))).reshape(x.shape), None]


class Norm:
    """layer_norm, or without centering rms_norm. Rows are padded with their mean before it is subtracted."""

    def __init__(self, centered):
        self.centered = centered

    def statistics(self, step, x):
        """Of each row: the mean, what its padding is without it, 1 / deviation."""
        n = F32(x.shape[-1])
        mean = canonical(kernels.row_sum(x) / n) if self.centered else np.zeros(x.shape[:-1], F32)
        u, pad = x - mean[..., None], mean - mean
        square = kernels.row_dot(u, u, (pad, pad))
        return mean, pad, canonical(F32(1) / np.sqrt(square / n + F32(float(step.attributes["epsilon"]))))

    def normal(self, step, x):
        mean, pad, r = self.statistics(step, x)
        return (x - mean[..., None]) * r[..., None], pad * r, r

    def forward(self, step, x, w, *bias):
        h, _, _ = self.normal(step, x)
        return fma(h, w, bias[0]) if self.centered else canonical(h * w)

    def backward(self, step, g, y, x, w, *bias):
        h, pad, r = self.normal(step, x)
        q, n = g * w, F32(x.shape[-1])
        c = kernels.row_dot(q, h, (0, pad)) / n
        shifted = q - (kernels.row_sum(q) / n)[..., None] if self.centered else q
        dx = canonical(r[..., None] * fma(h * F32(-1), c[..., None], shifted))
        dw = np.zeros(w.shape, F32)
        for gradient, normal in zip(flat(g), flat(h)):
            dw = fma(gradient, normal, dw)
        return [dx, dw] + ([kernels.rows(flat(g))] if self.centered else [])


class Attention:
    """Of [batch, position, head, width]; here [batch, head, position, width]."""

    @staticmethod
    def heads(x):
        return np.moveaxis(x, 2, 1)

    @staticmethod
    def visible(step, scores):
        """(query, the keys that it sees)."""
        queries, keys = scores.shape[-2:]
        causal = step.attributes["causal"] == "1"
        return [(row, slice(0, row + 1 if causal else keys)) for row in range(queries)]

    @staticmethod
    def weights(step, q, k, mask):
        group = q.shape[1] // k.shape[1]
        scale = F32(float(step.attributes["scale"]))
        scores = kernels.product(q, transposed(np.repeat(k, group, 1))) * scale
        if mask:
            scores = scores + mask[0]
        p = np.zeros(scores.shape, F32)
        for row, seen in Attention.visible(step, scores):
            p[..., row, seen] = kernels.softmax(scores[..., row, seen])
        return p

    @staticmethod
    def forward(step, q, k, v, *mask):
        q, k, v = map(Attention.heads, (q, k, v))
        p = Attention.weights(step, q, k, mask)
        return np.moveaxis(kernels.product(p, np.repeat(v, q.shape[1] // v.shape[1], 1)), 1, 2)

    @staticmethod
    def backward(step, g, y, q, k, v, *mask):
        q, k, v, g = map(Attention.heads, (q, k, v, g))
        group = q.shape[1] // k.shape[1]
        p = Attention.weights(step, q, k, mask)
        dp = kernels.product(g, transposed(np.repeat(v, group, 1)))
        ds = np.zeros(dp.shape, F32)
        for row, seen in Attention.visible(step, dp):
            slope = kernels.softmax_backward(dp[..., row, seen], p[..., row, seen])
            ds[..., row, seen] = canonical(slope * F32(float(step.attributes["scale"])))
        dq = kernels.product(ds, np.repeat(k, group, 1))
        dk, dv = (Attention.over_group(transposed(a), b, group) for a, b in ((ds, q), (p, g)))
        return [np.moveaxis(x, 1, 2) for x in (dq, dk, dv)] + [None] * len(mask)

    @staticmethod
    def over_group(a, b, group):
        """Chains over (heads of the group, then positions)."""
        batch, heads, s, t = a.shape
        a = np.moveaxis(a.reshape(batch, heads // group, group, s, t), 2, 3).reshape(batch, heads // group, s, group * t)
        return kernels.product(a, b.reshape(batch, heads // group, group * t, b.shape[-1]))


OPERATIONS = {"linear": Linear, "matmul": Matmul, "embedding": Embedding, "sum": Sum(False), "mean": Sum(True), "softmax": Softmax,
              "cross_entropy": CrossEntropy, "layer_norm": Norm(True), "rms_norm": Norm(False), "attention": Attention}
