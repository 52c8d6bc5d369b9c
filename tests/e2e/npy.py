"""NumPy's array files without NumPy: enough to write what tests give to ostraka and read it back."""
import array
import ast
import struct

MAGIC = b"\x93NUMPY"


def write(path, values, shape, dtype="<f4", fortran=False):
    """`values` in row-major order; `dtype` may be one that ostraka refuses."""
    text = repr({"descr": dtype, "fortran_order": fortran, "shape": tuple(shape)})
    text += " " * (-(len(MAGIC) + 4 + len(text) + 1) % 64) + "\n"
    data = array.array({"f4": "f", "f8": "d", "i4": "i"}[dtype[1:]], values)
    path.write_bytes(MAGIC + b"\x01\x00" + struct.pack("<H", len(text)) + text.encode() +
                     data.tobytes())
    return path


def write_rows(path, rows, dtype="<f4"):
    return write(path, [value for row in rows for value in row], (len(rows), len(rows[0])), dtype)


def read(path):
    """(shape, dtype, flat values)."""
    data = path.read_bytes()
    assert data[:8] == MAGIC + b"\x01\x00", data[:8]
    length = struct.unpack("<H", data[8:10])[0]
    header = ast.literal_eval(data[10:10 + length].decode())
    assert not header["fortran_order"] and (10 + length) % 64 == 0
    values = array.array({"<f4": "f", "<f8": "d"}[header["descr"]])
    values.frombytes(data[10 + length:])
    return header["shape"], header["descr"], values.tolist()
