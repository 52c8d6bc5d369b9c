"""Labelled images: the digits, and the files of MNIST and CIFAR-10 (docs/training.md)."""
import struct

import numpy as np

from examples import BadData, Dataset, Part, read_file, read_one_of, split_off

CLASSES = 10
VALIDATION = 10  # one image in so many
DIGITS_TEST = 5
DIGITS_SIDE, DIGITS_LARGEST = 8, 16
CIFAR10 = (3, 32, 32)


def labelled(values, labels, largest):
    part = Part(values, labels)
    if part.values.max(initial=0) > largest or part.labels.max(initial=0) >= CLASSES:
        raise BadData("an image has a pixel or label out of range")
    return part


def digits(path):
    try:
        rows = [[int(cell) for cell in line.split(",")] for line in read_file(path).decode("ascii").split()]
        table = np.array(rows, np.int64).reshape(len(rows), DIGITS_SIDE**2 + 1)
    except (ValueError, OverflowError) as problem:
        raise BadData(f"{path}: not the digits: {problem}") from None
    if table.min() < 0 or table.max() > DIGITS_LARGEST:
        raise BadData(f"{path}: not the digits: a pixel or label is out of range")
    rest, test = split_off(labelled(table[:, :-1], table[:, -1], DIGITS_LARGEST), DIGITS_TEST)
    training, validation = split_off(rest, VALIDATION)
    return Dataset("digits", (1, DIGITS_SIDE, DIGITS_SIDE), CLASSES, DIGITS_LARGEST, (training, validation, test))


def idx(content, magic, dimensions):
    """Extents and data of an IDX file of bytes."""
    header = 4 + 4 * dimensions
    if len(content) < header or content[:4] != struct.pack(">I", magic):
        raise BadData("no IDX file of bytes")
    extents = struct.unpack(f">{dimensions}I", content[4:header])
    data = np.frombuffer(content, np.uint8, offset=header)
    if data.size != int(np.prod(extents, dtype=object)):
        raise BadData("an IDX file has another size than it says")
    return extents, data


def mnist_part(folder, prefix):
    (count, height, width), pixels = idx(read_one_of(folder, [f"{prefix}-images{mark}idx3-ubyte" for mark in "-."]), 0x803, 3)
    (labels_count,), labels = idx(read_one_of(folder, [f"{prefix}-labels{mark}idx1-ubyte" for mark in "-."]), 0x801, 1)
    if count == 0 or count != labels_count:
        raise BadData(f"{folder}: it has not one label for each image")
    return (1, height, width), labelled(pixels.reshape(count, -1), labels, 255)


def mnist(folder):
    shape, rest = mnist_part(folder, "train")
    test_shape, test = mnist_part(folder, "t10k")
    if test_shape != shape:
        raise BadData(f"{folder}: its images are not of one size")
    return Dataset("mnist", shape, CLASSES, 255, (*split_off(rest, VALIDATION), test))


def cifar10_part(folder, names):
    row = 1 + int(np.prod(CIFAR10))
    content = b"".join(read_one_of(folder, [f"{name}.bin"]) for name in names)
    if len(content) % row != 0:
        raise BadData(f"{folder}: not the binary version of CIFAR-10")
    table = np.frombuffer(content, np.uint8).reshape(-1, row)
    return labelled(table[:, 1:], table[:, 0], 255)


def cifar10(folder):
    rest = cifar10_part(folder, [f"data_batch_{i}" for i in range(1, 6)])
    return Dataset("cifar10", CIFAR10, CLASSES, 255, (*split_off(rest, VALIDATION), cifar10_part(folder, ["test_batch"])))
