"""Wrong input in Python: a ValueError or TypeError of one line, and never a crash."""
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import ostraka

X = np.arange(35, dtype="float32").reshape(7, 5) % 11


class MisuseTest(unittest.TestCase):
    def refused(self, fragment, call, *args, error=ValueError, **kwargs):
        with self.assertRaises(error) as caught:
            call(*args, **kwargs)
        text = str(caught.exception)
        self.assertIn(fragment, text)
        if error is ValueError:
            self.assertNotIn("\n", text)

    def test_arrays(self):
        mean = ostraka.rules.mean
        self.refused("give a matrix", mean, np.ones(3, "float32"))
        self.refused("give a matrix", mean, np.ones((2, 3, 4), "float32"))
        self.refused("dtype int64", mean, np.ones((2, 3), "int64"))
        self.refused("dtype float16", mean, np.ones((2, 3), "float16"))
        self.refused("dtype >f4", mean, np.ones((2, 3), ">f4"))
        self.refused("dtype object", mean, np.array([[None]]))
        self.refused("not contiguous", mean, np.ones((5, 6), "float32").T)
        self.refused("not contiguous", mean, np.ones((5, 6), "float32")[:, ::2])
        self.refused("not an array", mean, "rows")
        self.refused("not an array", mean, None)
        self.refused("rows[0]: not an array", mean, [[1.0, 2.0], [3.0, 4.0]])
        self.refused("ragged: rows[1] has 4 values and rows[0] 3", mean,
                     [np.ones(3, "float32"), np.ones(4, "float32")])
        self.refused("mixed", mean, [np.ones(3, "float32"), np.ones(3, "float64")])
        self.refused("rows[1]: shape (1, 3)", mean, [np.ones(3), np.ones((1, 3))])
        self.refused("there are none", mean, [])
        self.refused("no rows", mean, np.ones((0, 3), "float32"))
        self.refused("no coordinates", mean, np.ones((3, 0), "float32"))
        misaligned = np.zeros(4 * 12 + 1, "uint8")[1:].view("float32").reshape(3, 4)
        self.refused("not contiguous", mean, misaligned)

    @unittest.skipUnless(sys.executable == "/usr/bin/python3", "NOT TESTED: a build by pip may bear NumPy 2")
    def test_a_build_for_numpy_1_refuses_numpy_2(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "numpy.py").write_text('__version__ = "2.0.1"')
            path = os.pathsep.join([folder, *sys.path])
            ended = subprocess.run([sys.executable, "-c", "import ostraka"], capture_output=True, text=True,
                                   env={**os.environ, "PYTHONPATH": path})
        self.assertEqual(ended.returncode, 1, ended)
        self.assertRegex(ended.stderr.splitlines()[-1], "^ImportError: .* is for NumPy 1, and here is NumPy 2.0.1: build one")

    def test_remedies_for_tensors_are_in_terms_of_torch(self):
        class Tensor:  # torch is not needed: an object of its module that shows its memory
            __module__ = "torch"

            def __init__(self, array):
                self.array = array

            def __dlpack__(self, **options):
                return self.array.__dlpack__(**options)

            def __dlpack_device__(self):
                return self.array.__dlpack_device__()

        mean = ostraka.rules.mean
        self.refused("give x.contiguous()", mean, Tensor(np.ones((5, 6), "float32").T))
        self.refused("give x.contiguous()", mean, [Tensor(np.ones(6, "float32")[::2])] * 3)
        self.refused("give x.float()", mean, Tensor(np.ones((2, 3), "int64")))
        self.refused("give numpy.ascontiguousarray(x)", mean, np.ones((5, 6), "float32").T)

    def test_values(self):
        bad = X.copy()
        bad[2, 3] = np.inf
        self.refused("row 2, coordinate 3 is infinite", ostraka.rules.median, bad)
        self.refused("row 2", ostraka.attacks.alie, bad)

    def test_names_and_parameters(self):
        self.refused("did you mean 'krum'?", ostraka.aggregate, "kurm", X)
        self.refused("did you mean 'nnm'?", ostraka.aggregate, "krum", X, f=1, pre="nmn")
        self.refused("did you mean 'variant'?", ostraka.rules.krum, X, f=1, varaint="paper")
        self.refused("one of paper, byzfl", ostraka.rules.krum, X, f=1, variant="best")
        self.refused("needs", ostraka.rules.krum, X)
        self.refused("n >= 2f + 3", ostraka.rules.krum, X, f=3)
        self.refused("f=1.5 must be integer", ostraka.rules.krum, X, f=1.5)
        self.refused("f must be a number or a string", ostraka.rules.krum, X, f=True,
                     error=TypeError)
        self.refused("did you mean 'alie'?", ostraka.attack, "aile", X)
        self.refused("eps=nan", ostraka.attacks.ipm, X, eps=float("nan"))
        self.refused("threads", ostraka.rules.mean, X, threads=0)
        self.refused("threads", ostraka.rules.mean, X, threads="two", error=TypeError)
        self.refused("pre", ostraka.rules.mean, X, pre=3, error=TypeError)
        with self.assertRaises(AttributeError):
            ostraka.rules.kurm

    def test_attacks(self):
        self.refused("float64", ostraka.attacks.alie, X.astype("float64"))
        self.refused("1 to 100000", ostraka.attacks.alie, X, byzantine=0)
        self.refused("own: give a row", ostraka.attacks.sign_flip, X, own=X[:2])
        self.refused("trainer", ostraka.attacks.label_flip, X)
        self.refused("the rule", ostraka.attacks.opt_ipm, X)
        self.refused("n >= 2f + 3", ostraka.attacks.opt_ipm, X, byzantine=7,
                     rule=ostraka.Pipeline("krum", f=7))
        self.refused("Pipeline('krum', f=1), and not of type function", ostraka.attacks.opt_ipm, X,
                     rule=lambda rows: rows[0], error=TypeError)
        self.refused("not of type str", ostraka.attacks.opt_ipm, X, rule="krum", error=TypeError)
        self.refused("ostraka.Memory", ostraka.attacks.alie, X, memory=3, error=TypeError)
        self.refused("byzantine must be a whole number", ostraka.attacks.alie, X, byzantine="two",
                     error=TypeError)
        self.refused("seed must be 0 to", ostraka.attacks.alie, X, seed=-1)

    def test_states(self):
        momentum = ostraka.Pipeline("mean", pre="worker_momentum")
        state = ostraka.State()
        momentum(X, state=state)
        self.refused("state", momentum, X[:4], state=state)
        self.refused("state", ostraka.Pipeline("mean", pre=["worker_momentum", "nnm"], f=1), X,
                     state=state)
        with self.assertRaises(TypeError):
            momentum(X, state=3)
        self.refused("ostraka.State, and not of type int", ostraka.aggregate, "mean", X, state=3,
                     error=TypeError)


if __name__ == "__main__":
    unittest.main(verbosity=2)
