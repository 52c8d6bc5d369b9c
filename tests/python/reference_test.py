"""The module compared with plain NumPy: rules, attacks, and that nothing is copied or converted."""
import re
import sys
import threading
import unittest
from pathlib import Path

import numpy as np

import ostraka

try:
    import torch
except ImportError:
    torch = None
    print("NOT TESTED: torch tensors (python3-torch is not installed)", file=sys.stderr)

RNG = np.random.default_rng(7)


def rows(n=11, d=37, dtype="float32"):
    return RNG.normal(size=(n, d)).astype(dtype)


def trimmed_mean(x, f):
    return np.sort(x, axis=0)[f:len(x) - f].mean(axis=0)


def distances(x):
    return np.linalg.norm(x[:, None].astype(float) - x[None], axis=2)


def krum_scores(x, f):
    squared = np.sort(distances(x) ** 2, axis=1)[:, 1:]
    return squared[:, :len(x) - f - 2].sum(axis=1)


def nnm(x, f):
    nearest = np.argsort(distances(x), axis=1, kind="stable")[:, :len(x) - f]
    return np.array([x[index].mean(axis=0) for index in nearest])


def geometric_median(x):
    v = x.mean(axis=0)
    for _ in range(2000):
        weights = 1 / np.maximum(np.linalg.norm(x - v, axis=1), 1e-9)
        v = (weights[:, None] * x).sum(axis=0) / weights.sum()
    return v


class RuleTest(unittest.TestCase):
    def close(self, found, expected, dtype):
        self.assertEqual(found.dtype, np.dtype(dtype))
        np.testing.assert_allclose(found, expected, rtol=0,
                                   atol={"float32": 2e-6, "float64": 1e-9}[dtype])

    def test_against_numpy(self):
        for dtype in ["float32", "float64"]:
            for n in [7, 8, 11]:
                x, f = rows(n, 40, dtype), 2
                wide = x.astype(float)
                with self.subTest(dtype=dtype, n=n):
                    self.close(ostraka.rules.mean(x), wide.mean(axis=0), dtype)
                    self.close(ostraka.rules.median(x), np.median(wide, axis=0), dtype)
                    self.close(ostraka.rules.trimmed_mean(x, f=f), trimmed_mean(wide, f), dtype)
                    best = np.argmin(krum_scores(wide, f))
                    self.close(ostraka.rules.krum(x, f=f), wide[best], dtype)
                    order = np.argsort(krum_scores(wide, f), kind="stable")[:n - f - 2]
                    self.close(ostraka.rules.multi_krum(x, f=f), wide[order].mean(axis=0), dtype)
                    kept = np.argsort(np.linalg.norm(wide, axis=1), kind="stable")[:n - f]
                    self.close(ostraka.rules.cge(x, f=f), wide[kept].mean(axis=0), dtype)
                    np.testing.assert_allclose(ostraka.rules.geometric_median(x),
                                               geometric_median(wide), atol=2e-5)
                    self.close(ostraka.mix("nnm", x, f=f), nnm(wide, f), dtype)
                    self.close(ostraka.aggregate("trimmed_mean", x, f=f, pre=["nnm"]),
                               trimmed_mean(nnm(wide, f), f), dtype)

    def test_equivalent_calls(self):
        x = rows()
        one = ostraka.rules.krum(x, f=2, variant="byzfl")
        np.testing.assert_array_equal(one, ostraka.aggregate("krum", x, f=2, variant="byzfl"))
        pipeline = ostraka.Pipeline("krum", f=2, variant="byzfl")
        np.testing.assert_array_equal(one, pipeline(x))
        np.testing.assert_array_equal(one, pipeline(list(x)))
        np.testing.assert_array_equal(one, pipeline(tuple(x), threads=3))
        self.assertEqual((pipeline.rule, pipeline.stateful), ("krum", False))

    def test_report(self):
        x = rows()
        result, report = ostraka.rules.multi_krum(x, f=2, report=True)
        np.testing.assert_allclose(report["scores"], krum_scores(x, 2), rtol=1e-5)
        np.testing.assert_allclose(x[report["selected"]].mean(axis=0), result, atol=1e-6)
        x[4, 0] = np.nan
        _, report = ostraka.rules.median(x, f=2, drop_invalid=True, report=True)
        self.assertEqual(report["dropped"], [4])

    def test_state_is_explicit(self):
        x = rows()
        pipeline = ostraka.Pipeline("mean", pre="worker_momentum:beta=0.5")
        self.assertTrue(pipeline.stateful)
        state = ostraka.State()
        first = pipeline(x, state=state)
        kept = state.copy()
        second = pipeline(x, state=state)
        self.assertFalse(np.array_equal(first, second))
        np.testing.assert_array_equal(second, pipeline(x, state=kept))
        np.testing.assert_array_equal(first, pipeline(x, state=ostraka.State()))

    def test_bits_do_not_depend_on_threads_or_strides(self):
        x = rows(9, 20_000)
        expected = ostraka.rules.centered_clip(x, threads=1)
        for threads in [2, 5]:
            np.testing.assert_array_equal(expected,
                                          ostraka.rules.centered_clip(x, threads=threads))
        spread = np.empty((18, 20_007), "float32")
        spread[::2, 3:20_003] = x
        np.testing.assert_array_equal(expected, ostraka.rules.centered_clip(spread[::2, 3:20_003]))
        np.testing.assert_array_equal(expected, ostraka.rules.centered_clip(np.flipud(x)[::-1]))

    def test_the_input_is_neither_written_nor_kept(self):
        x = rows()
        before, count = x.copy(), sys.getrefcount(x)
        x.flags.writeable = False
        for rule in ["median", "krum", "smea", "centered_clip"]:
            ostraka.aggregate(rule, x, f=2)
        ostraka.mix(["clipping:c=1", "nnm"], x, f=2)
        ostraka.attacks.min_max(x)
        np.testing.assert_array_equal(before, x)
        self.assertEqual(sys.getrefcount(x), count)

    def test_nothing_as_large_as_the_input_is_allocated(self):
        resident = lambda: int(Path("/proc/self/statm").read_text().split()[1]) * 4096
        x = np.ones((64, 2_000_000), "float32")  # 512 MB
        ostraka.rules.mean(x)
        before = resident()
        peak = []
        done = threading.Event()
        def watch():
            while not done.is_set():
                peak.append(resident())
        watcher = threading.Thread(target=watch)
        watcher.start()
        ostraka.rules.mean(x)  # the watcher runs beside it: the GIL is released
        done.set()
        watcher.join()
        self.assertLess(max(peak) - before, 64 << 20)

    def test_two_calls_at_once(self):
        x = rows(9, 50_000)
        expected = ostraka.rules.median(x)
        results = [None] * 4
        def work(i):
            results[i] = [ostraka.rules.median(x, threads=2) for _ in range(5)]
        workers = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
        for result in results:
            for found in result:
                np.testing.assert_array_equal(found, expected)

    def test_every_rule_runs(self):
        x = rows(12, 30)
        for rule in ostraka.list_rules():
            if any(p["required"] and p["name"] != "f" for p in rule["parameters"]):
                continue
            result = ostraka.aggregate(rule["name"], x, f=1, reference=x[0] + 0.1) \
                if rule["reference_meaning"] else ostraka.aggregate(rule["name"], x, f=1)
            self.assertEqual(result.shape, (30,), rule["name"])
            self.assertTrue(np.isfinite(result).all(), rule["name"])


class AttackTest(unittest.TestCase):
    def test_against_numpy(self):
        x = rows(9, 50)
        mean, deviation = x.astype(float).mean(axis=0), x.astype(float).std(axis=0)
        close = lambda a, b: np.testing.assert_allclose(a, np.broadcast_to(b, a.shape), atol=2e-6)
        close(ostraka.attacks.ipm(x, eps=0.5), -0.5 * mean)
        close(ostraka.attacks.alie(x, z=1.25, byzantine=3), mean - 1.25 * deviation)
        close(ostraka.attacks.sign_flip(x, lambda_=2), -2 * mean)
        close(ostraka.attacks.sign_flip(x, own=x[3:5], byzantine=2, lambda_=2), -2 * x[3:5])
        close(ostraka.attacks.mimic(x, epsilon=4), x[4])
        sent = ostraka.attacks.min_max(x)[0]
        self.assertAlmostEqual(np.linalg.norm(x - sent, axis=1).max(), distances(x).max(), 4)

    def test_shapes_seeds_and_memory(self):
        x = rows(9, 50)
        self.assertEqual(ostraka.attack("gaussian", x, byzantine=4).shape, (4, 50))
        self.assertEqual(ostraka.attack("wrong_length", x).shape, (1, 49))
        one = ostraka.attacks.gaussian(x, seed=3)
        np.testing.assert_array_equal(one, ostraka.attacks.gaussian(x, seed=3))
        self.assertFalse(np.array_equal(one, ostraka.attacks.gaussian(x, seed=4)))
        self.assertFalse(np.array_equal(one, ostraka.attacks.gaussian(x, seed=3, step=1)))
        memory = ostraka.Memory()
        own = [rows(1, 50) for _ in range(3)]
        sent = [ostraka.attacks.delayed(x, own=o, steps=1, memory=memory)[0] for o in own]
        np.testing.assert_array_equal(sent[1], own[0][0])
        np.testing.assert_array_equal(sent[2], own[1][0])

    def test_the_search_beats_fixed_steps(self):
        x, rule = rows(9, 20), ostraka.Pipeline("krum", f=3)
        def damage(sent):
            return np.linalg.norm(rule(list(x) + list(sent)) - x.mean(axis=0))
        best = damage(ostraka.attacks.opt_ipm(x, byzantine=3, rule=rule))
        for eps in np.linspace(-10, 10, 201):
            self.assertGreaterEqual(
                best, 0.95 * damage(ostraka.attacks.ipm(x, byzantine=3, eps=float(eps))))

    def test_every_attack_runs(self):
        x, rule = rows(9, 50), ostraka.Pipeline("median")
        for attack in ostraka.list_attacks():
            if attack["knowledge"] == "work":
                continue
            sent = ostraka.attack(attack["name"], x, byzantine=2, rule=rule)
            self.assertEqual(sent.dtype, np.float32)
            self.assertEqual(len(sent), 2)


@unittest.skipUnless(torch, "NOT TESTED: python3-torch is not installed")
class TorchTest(unittest.TestCase):
    def test_tensors_in_tensors_out(self):
        x = rows()
        tensor = torch.from_numpy(x)
        found = ostraka.rules.krum(tensor, f=2)
        self.assertIsInstance(found, torch.Tensor)
        np.testing.assert_array_equal(found.numpy(), ostraka.rules.krum(x, f=2))
        np.testing.assert_array_equal(
            ostraka.rules.median([row for row in tensor]).numpy(), ostraka.rules.median(x))
        self.assertIsInstance(ostraka.attacks.alie(tensor), torch.Tensor)
        self.assertIsInstance(ostraka.mix("nnm", tensor, f=2), torch.Tensor)

    def test_no_copy_is_made(self):
        # What is written into the tensor's memory is what the rule sees.
        tensor = torch.ones(3, 4)
        view = tensor.numpy()
        view[:] = 5
        np.testing.assert_array_equal(ostraka.rules.mean(tensor).numpy(), np.full(4, 5, "float32"))

    def test_tensors_that_cannot_be_read(self):
        with self.assertRaisesRegex(ValueError, "detached"):
            ostraka.rules.mean(torch.ones(3, 4, requires_grad=True))
        with self.assertRaisesRegex(ValueError, "rows: "):
            ostraka.rules.mean(torch.ones(3, 4, dtype=torch.bfloat16))


class ObjectsTest(unittest.TestCase):
    def test_the_version_is_the_projects(self):
        text = (Path(__file__).resolve().parents[2] / "CMakeLists.txt").read_text()
        self.assertEqual(ostraka.__version__, re.search(r"VERSION (\d+\.\d+\.\d+)", text)[1])

    def test_repr_is_source_that_makes_an_equal_pipeline(self):
        rows = np.random.default_rng(1).standard_normal((9, 20))
        for pipeline in [ostraka.Pipeline("mean"),
                         ostraka.Pipeline("krum", f=2, variant="byzfl"),
                         ostraka.Pipeline("centered_clip", tau=0.5, pre=["bucketing:s=2,seed=7", "nnm"],
                                          f=1, drop_invalid=True)]:
            again = eval(repr(pipeline))
            self.assertEqual(repr(again), repr(pipeline))
            np.testing.assert_array_equal(again(rows), pipeline(rows))
        self.assertEqual(repr(pipeline), "ostraka.Pipeline('centered_clip', tau=0.5, f=1, "
                         "pre=['bucketing:s=2,seed=7', 'nnm'], drop_invalid=True)")


if __name__ == "__main__":
    unittest.main(verbosity=2)
