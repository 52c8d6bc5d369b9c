"""Exact gradients, slowly: the operations of docs/numerics.md on float32 arrays of NumPy, in the order written there.

NumPy computes one rounding an operation, elementwise, and that is all that is used of it: every sum is a written chain. It has no
fused multiply-add, so that is made of double precision with rounding to odd (fma).
"""
import numpy as np

F32 = np.float32
LANES = 16
NAN_BITS = np.uint32(0x7FC00000)


def canonical(x):
    """NaNs have one bit pattern wherever a number is stored."""
    x = np.asarray(x, F32).copy()
    x.view(np.uint32)[np.isnan(x)] = NAN_BITS
    return x


def fma(a, b, c):
    """a b + c, rounded once. A product of two float32 is exact in double; the sum is rounded to odd there, so that the second rounding to
    float32 meets no tie that the first one made."""
    with np.errstate(all="ignore"):
        product = np.asarray(a, F32).astype(np.float64) * np.asarray(b, F32).astype(np.float64)
        addend = np.broadcast_to(np.asarray(c, F32).astype(np.float64), np.broadcast_shapes(product.shape, np.shape(c)))
        total = np.array(product + addend)
        back = total - product
        error = (product - (total - back)) + (addend - back)
        inexact = np.isfinite(total) & (error != 0)
        bits = total.view(np.int64)
        even = inexact & (bits & 1 == 0)
        bits[even] += np.where((error > 0) == (total > 0), 1, -1)[even]
        return canonical(total.astype(F32))


def poly(x, first, *others):
    p = np.full_like(x, F32(float.fromhex(first)))
    for c in others:
        p = fma(p, x, F32(float.fromhex(c)))
    return p


def const(text):
    return F32(float.fromhex(text))


def exp(x):
    x = np.asarray(x, F32)
    with np.errstate(all="ignore"):
        s = fma(x, const("0x1.715476p0"), const("0x1.8p23"))
        n = s - const("0x1.8p23")
        r = fma(n, const("-0x1.62e43p-1"), x)
        r = fma(n, const("0x1.05c61p-29"), r)
        q = poly(r, "0x1.6a2434p-10", "0x1.1239e2p-7", "0x1.5558f2p-5", "0x1.555492p-3", "0x1.fffffcp-2")
        p = fma(r * r, q, r) + F32(1)
        bits = p.view(np.uint32) + (s.view(np.uint32) << np.uint32(23))
        result = bits.view(F32)
        result = np.where(x > const("0x1.62e42ep6"), F32(np.inf), result)
        result = np.where(x < F32(-87), F32(0), result)
        return canonical(np.where(np.isnan(x), F32(np.nan), result))


def lanes_sum(lanes):
    for width in (8, 4, 2):
        lanes = lanes[..., :width] + lanes[..., width:2 * width]
    return canonical(lanes[..., 0] + lanes[..., 1])


def padded(x, fill=0):
    """The last axis to a multiple of 16, as [..., chunks, 16]."""
    missing = -x.shape[-1] % LANES
    pad = np.broadcast_to(np.asarray(fill, F32), x.shape[:-1] + (missing,))
    x = np.concatenate([x, pad], -1)
    return x.reshape(x.shape[:-1] + (-1, LANES))


def row_sum(x):
    """sum(x) of section 2, along the last axis."""
    with np.errstate(all="ignore"):
        chunks = padded(x)
        lanes = np.zeros(chunks.shape[:-2] + (LANES,), F32)
        for k in range(chunks.shape[-2]):
            lanes = lanes + chunks[..., k, :]
        return lanes_sum(lanes)


def row_dot(x, y, fill=(0, 0)):
    with np.errstate(all="ignore"):
        a, b = padded(x, fill[0]), padded(y, fill[1])
        lanes = np.zeros(a.shape[:-2] + (LANES,), F32)
        for k in range(a.shape[-2]):
            lanes = fma(a[..., k, :], b[..., k, :], lanes)
        return lanes_sum(lanes)


def row_max(x):
    """The largest value that is not NaN; +0 if there is none or if it is -infinity."""
    largest = np.where(np.isnan(x), F32(-np.inf), x).max(-1)
    return np.where(np.isneginf(largest), F32(0), largest).astype(F32)


def rows(x):
    """Sums over all but the last axis, in ascending order."""
    flat = x.reshape(-1, x.shape[-1])
    total = np.zeros(x.shape[-1], F32)
    with np.errstate(all="ignore"):
        for row in flat:
            total = total + row
    return canonical(total)


def product(a, b):
    """[..., M, K] by [..., K, N]: one chain of fma over ascending k for each element, from +0."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + (a.shape[-2], b.shape[-1])
    total = np.zeros(shape, F32)
    for k in range(a.shape[-1]):
        total = fma(a[..., :, k, None], b[..., None, k, :], total)
    return total


def softmax(x):
    with np.errstate(all="ignore"):
        e = exp(x - row_max(x)[..., None])
        s = row_sum(e)[..., None]
        return canonical(np.where(s == 0, F32(0), e / s))
