"""How the values of a part stand in a blob (docs/numerics.md, 11)."""
import numpy as np

F32 = np.float32
# name: largest code, values that share a scale, bits of a code
FORMS = {"i16": (32767, 256, 16), "i8": (127, 256, 8), "i4": (7, 128, 4)}
LARGEST, LEAST_SCALE = F32(2.0**120), F32(2.0**-126)


def encode(name, values):
    """The bytes of finite float32 values."""
    values = np.asarray(values, "<f4")
    if name == "raw":
        return values.tobytes()
    largest, block, bits = FORMS[name]
    scales, codes = [], []
    for at in range(0, values.size, block):
        part = values[at:at + block]
        scale = min(np.abs(part).max(), LARGEST) / F32(largest)
        if scale < LEAST_SCALE:
            scales.append(F32(0))
            codes.append(np.zeros(part.size, np.int64))
            continue
        scales.append(scale)
        with np.errstate(over="ignore"):
            quotients = part / scale
        # np.rint rounds ties to even.
        codes.append(np.rint(np.clip(quotients, F32(-largest), F32(largest))).astype(np.int64))
    codes = np.concatenate(codes) if codes else np.zeros(0, np.int64)
    if bits == 4:
        halves = (np.append(codes, 0) if codes.size % 2 else codes) & 15
        packed = (halves[0::2] | halves[1::2] << 4).astype(np.uint8)
    else:
        packed = codes.astype("<i2" if bits == 16 else "i1")
    return np.array(scales, "<f4").tobytes() + packed.tobytes()
