"""Exact gradients, slowly: the functions of docs/numerics.md (1 to 3) on float32 arrays of NumPy, in the order written there.

NumPy computes one rounding an operation, elementwise, and that is all that is used of it: every sum is a written chain. It has no
fused multiply-add, so that is made of double precision with rounding to odd (fma). Overflows and NaNs are ordinary here: a caller
silences NumPy's warnings (np.errstate).
"""
import numpy as np

F32 = np.float32
LANES = 16
NAN_BITS = np.uint32(0x7FC00000)
LOWEST_NORMAL = 2.0**-126
# The 29 bits by which a double is longer than a float, and their value half way between two floats.
LOST_BITS, HALF_WAY = np.int64(2**29 - 1), np.int64(2**28)


def const(text):
    return F32(float.fromhex(text))


def canonical(x):
    """NaNs have one bit pattern wherever a number is stored."""
    x = np.asarray(x, F32)
    nans = np.isnan(x)
    if nans.any():
        x = x.copy()
        x.view(np.uint32)[nans] = NAN_BITS
    return x


def rounded_to_odd(product, addend):
    """Their sum in double, whose last bit says whether it is exact: a second rounding then meets no tie that this one made."""
    total = product + addend
    back = total - product
    error = (product - (total - back)) + (addend - back)
    bits = total.view(np.int64)
    even = np.isfinite(total) & (error != 0) & (bits & 1 == 0)
    bits[even] += np.where((error > 0) == (total > 0), 1, -1)[even]
    return total


def fma(a, b, c):
    """a b + c, rounded once. A product of two floats is exact in double, so that only the sum is rounded there. The rounding to float
    would see this one only at a tie, and among subnormals, whose ties are elsewhere."""
    product = np.asarray(a, F32).astype(np.float64) * np.asarray(b, F32).astype(np.float64)
    addend = np.asarray(c, F32).astype(np.float64)
    total = np.array(product + addend)
    doubtful = ((total.view(np.int64) & LOST_BITS) == HALF_WAY) | (np.abs(total) < LOWEST_NORMAL)
    if doubtful.any():
        parts = (np.broadcast_to(part, total.shape)[doubtful] for part in (product, addend))
        total[doubtful] = rounded_to_odd(*parts)
    return canonical(total.astype(F32))


# --- elementary functions -----------------------------------------------------------------------------------------


def poly(x, first, *others):
    p = np.full_like(x, const(first))
    for c in others:
        p = fma(p, x, const(c))
    return p


def exp(x):
    x = np.asarray(x, F32)
    s = fma(x, const("0x1.715476p0"), const("0x1.8p23"))
    n = s - const("0x1.8p23")
    r = fma(n, const("-0x1.62e43p-1"), x)
    r = fma(n, const("0x1.05c61p-29"), r)
    q = poly(r, "0x1.6a2434p-10", "0x1.1239e2p-7", "0x1.5558f2p-5", "0x1.555492p-3", "0x1.fffffcp-2")
    p = fma(r * r, q, r) + F32(1)
    bits = p.view(np.uint32) + (s.view(np.uint32) << np.uint32(23))
    result = np.where(x < F32(-87), F32(0), bits.view(F32))
    result = np.where(x > const("0x1.62e42ep6"), F32(np.inf), result)
    return canonical(np.where(np.isnan(x), F32(np.nan), result))


def logistic(x):
    """1 / (1 + e^x), which is sigmoid(-x)."""
    return F32(1) / (F32(1) + exp(x))


def sigmoid(x):
    return logistic(x * F32(-1))


def tanh(x):
    a, z = np.abs(x), x * x
    p = poly(z, "-0x1.73641ap-8", "0x1.519c92p-6", "-0x1.b827fep-5", "0x1.110692p-3", "-0x1.55553p-2")
    small = fma(x * z, p, x)
    large = F32(1) - F32(2) / (exp(F32(2) * a) + F32(1))
    y = np.where(a < F32(0.625), small, np.copysign(large, x))
    return canonical(np.where(np.isnan(x), x, y))


def erf(x):
    a, z = np.abs(x), x * x
    p = poly(z, "0x1.5cd508p-14", "-0x1.aa3f4ep-11", "0x1.54c7fap-8", "-0x1.b80e92p-6", "0x1.ce2e0ap-4", "-0x1.812742p-2",
             "0x1.06eba8p-3")
    q = poly(a, "-0x1.98d4bep-13", "0x1.8da18ap-9", "-0x1.6b8e88p-6", "0x1.a9653cp-4", "0x1.4647b4p-1", "0x1.20ac3p0",
             "0x1.b22572p-13")
    large = np.where(a > F32(4), F32(1), F32(1) - exp(q * F32(-1)))
    y = np.where(a < F32(0.921875), fma(x, p, x), np.copysign(large, x))
    return canonical(np.where(np.isnan(x), x, y))


def log(x):
    x = np.asarray(x, F32)
    half, exponent = np.frexp(x.astype(np.float64))
    m, e = half * 2, exponent - 1.0
    large = m > float.fromhex("0x1.6a09e667f3bcdp0")
    m, e = np.where(large, m / 2, m), np.where(large, e + 1, e)
    z = (m - 1) / (m + 1)
    t = z * z
    s = 1 / 15
    for k in range(13, 0, -2):
        s = s * t + 1 / k
    y = ((2 * z) * s + e * float.fromhex("0x1.62e42fefa39efp-1")).astype(F32)
    y = np.where(np.isinf(x), x, y)
    y = np.where(x == 0, F32(-np.inf), y)
    return canonical(np.where((x < 0) | np.isnan(x), F32(np.nan), y))


# --- sums along a row, and products -------------------------------------------------------------------------------


def lanes_sum(lanes):
    for width in (8, 4, 2):
        lanes = lanes[..., :width] + lanes[..., width:2 * width]
    return canonical(lanes[..., 0] + lanes[..., 1])


def padded(x, fill=0):
    """The last axis to a multiple of 16, as [..., chunks, 16]; `fill` is a number, or one for each row."""
    missing = -x.shape[-1] % LANES
    pad = np.broadcast_to(np.asarray(fill, F32)[..., None], x.shape[:-1] + (missing,))
    x = np.concatenate([x, pad], -1)
    return x.reshape(x.shape[:-1] + (x.shape[-1] // LANES, LANES))


def row_sum(x):
    """sum(x) of section 2, along the last axis."""
    chunks = padded(x)
    lanes = np.zeros(chunks.shape[:-2] + (LANES,), F32)
    for k in range(chunks.shape[-2]):
        lanes = lanes + chunks[..., k, :]
    return lanes_sum(lanes)


def row_dot(x, y, fill=(0, 0)):
    a, b = padded(x, fill[0]), padded(y, fill[1])
    lanes = np.zeros(a.shape[:-2] + (LANES,), F32)
    for k in range(a.shape[-2]):
        lanes = fma(a[..., k, :], b[..., k, :], lanes)
    return lanes_sum(lanes)


def row_max(x):
    """The largest value that is not NaN; +0 if there is none or if it is -infinity."""
    largest = np.where(np.isnan(x), F32(-np.inf), x).max(-1, initial=-np.inf)
    return np.where(np.isneginf(largest), F32(0), largest).astype(F32)


def rows(x):
    """Sums over the first axis, in ascending order."""
    total = np.zeros(x.shape[1:], F32)
    for row in x:
        total = total + row
    return canonical(total)


def product(a, b, total=F32(0)):
    """[..., M, K] by [..., K, N]: one chain of fma over ascending k for each element, from `total`."""
    shape = np.broadcast_shapes(a.shape[:-2], b.shape[:-2]) + (a.shape[-2], b.shape[-1])
    total = np.broadcast_to(total, shape)
    for k in range(a.shape[-1]):
        total = fma(a[..., :, k, None], b[..., None, k, :], total)
    return total


def softmax(x):
    e = exp(x - row_max(x)[..., None])
    s = row_sum(e)[..., None]
    return canonical(np.where(s == 0, F32(0), e / s))


def softmax_backward(g, y):
    return canonical((g - row_dot(g, y)[..., None]) * y)
