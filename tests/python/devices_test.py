"""ostraka.devices and gradients on one: by pocl (Debian's pocl-opencl-icd), in a child of this interpreter."""
import tempfile
import unittest
from pathlib import Path

import numpy
import ostraka

GRAPH = """ostraka-graph 1
parameter w f32[4,3] normal 2e-02
input x f32[2,3]
input targets i32[2] -1 4
%1 f32[2,4] = linear x w
%2 f32[] = cross_entropy %1 targets
loss %2
"""


class DevicesTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        path = Path(folder.name) / "softmax.graph"
        path.write_text(GRAPH)
        self.graph = ostraka.Graph(path)
        draw = numpy.random.default_rng(1)
        self.parameters = {"w": draw.normal(size=(4, 3)).astype("float32")}
        self.inputs = {"x": draw.normal(size=(2, 3)).astype("float32"), "targets": numpy.array([3, 1])}

    def gradient(self, **options):
        loss, gradient = self.graph.gradient(self.parameters, **options, **self.inputs)
        return loss, gradient["w"].tobytes()

    def test_a_device_gives_the_bits_of_the_processor(self):
        devices = ostraka.devices()
        for device in devices:
            self.assertEqual(set(device), {"name", "description", "memory_bytes", "is_processor"})
        if not devices:
            self.skipTest("NOT TESTED: no OpenCL device; apt-get install pocl-opencl-icd")
        name = devices[0]["name"]
        self.assertEqual(self.gradient(device=name), self.gradient())
        [line] = self.graph.notices()
        self.assertIn(f"{name} takes", line)
        self.assertEqual(self.graph.notices(), [])
        self.assertEqual(self.gradient(device=name), self.gradient(device="cpu"))

    def test_auto_never_fails(self):
        self.assertEqual(self.gradient(device="auto"), self.gradient())

    def test_what_is_refused(self):
        with self.assertRaisesRegex(ValueError, "no device 'gpu': give cpu, auto, opencl:N or cuda:N"):
            self.gradient(device="gpu")
        with self.assertRaisesRegex(ValueError, "^cuda:99: "):
            self.gradient(device="cuda:99")
        self.assertEqual(self.gradient(device="auto"), self.gradient())


if __name__ == "__main__":
    unittest.main(verbosity=2)
