"""Small data sets in the formats of MNIST and CIFAR-10, made of the embedded digits."""
import gzip
import struct
from pathlib import Path

DIGITS = Path(__file__).parents[2] / "node/train/data/digits.csv"


def digits():
    """(64 pixels of 0..16, label) of every image."""
    for line in DIGITS.read_text().splitlines():
        *pixels, label = map(int, line.split(","))
        yield pixels, label


def enlarge(pixels, side):
    """8 x 8 pixels of 0..16 as side x side of 0..255, each where its nearest one was."""
    return bytes(pixels[8 * (8 * y // side) + 8 * x // side] * 255 // 16
                 for y in range(side) for x in range(side))


def write_mnist(folder, rows, test_rows, compressed=False):
    """28 x 28; the first `test_rows` of the first `rows` digits are the test part."""
    folder.mkdir(parents=True)
    images = list(digits())[:rows]
    for prefix, part in (("t10k", images[:test_rows]), ("train", images[test_rows:])):
        files = {
            "images-idx3-ubyte": struct.pack(">IIII", 0x803, len(part), 28, 28)
                                 + b"".join(enlarge(pixels, 28) for pixels, _ in part),
            "labels-idx1-ubyte": struct.pack(">II", 0x801, len(part))
                                 + bytes(label for _, label in part)}
        for name, data in files.items():
            if compressed:
                (folder / f"{prefix}-{name}.gz").write_bytes(gzip.compress(data))
            else:
                (folder / f"{prefix}-{name}").write_bytes(data)


def write_cifar10(folder, rows_a_batch):
    """32 x 32, a digit in each of red and green and nothing in blue."""
    folder.mkdir(parents=True)
    images = iter(digits())
    for name in [f"data_batch_{i}.bin" for i in range(1, 6)] + ["test_batch.bin"]:
        batch = b""
        for _ in range(rows_a_batch):
            pixels, label = next(images)
            plane = enlarge(pixels, 32)
            batch += bytes([label]) + plane + plane + bytes(1024)
        (folder / name).write_bytes(batch)
