"""Writes a wheel, which is a zip file with a list of its files (packaging.python.org, binary distribution format)."""
import base64
import hashlib
import time
import zipfile


class Wheel:
    """A wheel of one project in `folder`. close() writes what pip reads."""

    def __init__(self, folder, name, version, tag, epoch):
        self._tag = tag
        self._info = f"{name}-{version}.dist-info"
        self._data = f"{name}-{version}.data"
        self._date = time.gmtime(max(epoch, 315532800))[:6]  # a zip file begins with 1980
        self._record = []
        self.path = folder / f"{name}-{version}-{tag}.whl"
        self._zip = zipfile.ZipFile(self.path, "w", zipfile.ZIP_DEFLATED, compresslevel=9)

    def add(self, name, data, mode=0o644):
        entry = zipfile.ZipInfo(name, self._date)
        entry.external_attr = (0o100000 | mode) << 16
        entry.compress_type = zipfile.ZIP_DEFLATED
        self._zip.writestr(entry, data)
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        self._record.append(f"{name},sha256={digest},{len(data)}\n")

    def add_script(self, name, data):
        """pip puts it beside the interpreter."""
        self.add(f"{self._data}/scripts/{name}", data, 0o755)

    def add_shared(self, name, data):
        """pip puts it at `name` below the environment's folder."""
        self.add(f"{self._data}/data/{name}", data)

    def add_licence(self, name, data):
        self.add(f"{self._info}/licenses/{name}", data)

    def close(self, metadata):
        """`metadata`: the lines of METADATA after the first."""
        self.add(f"{self._info}/METADATA", f"Metadata-Version: 2.1\n{metadata}".encode())
        self.add(f"{self._info}/WHEEL", f"Wheel-Version: 1.0\nGenerator: packaging/wheel.py\nRoot-Is-Purelib: false\n"
                                        f"Tag: {self._tag}\n".encode())
        record = f"{self._info}/RECORD"
        self._zip.writestr(zipfile.ZipInfo(record, self._date), "".join(self._record) + f"{record},,\n")
        self._zip.close()
