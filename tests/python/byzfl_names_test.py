"""docs/from-byzfl.md: each call of its table runs, computes what ByzFL does, and errors name ours."""
import re
import unittest
from pathlib import Path

import numpy as np

import ostraka
from ostraka import Pipeline, attacks, mix, rules  # what the calls of the table use

PAGE = Path(__file__).resolve().parents[2] / "docs/from-byzfl.md"
ROWS = np.random.default_rng(3).standard_normal((9, 40)).astype("float32")
f = 2
CALLS = dict(re.findall(r"^\| `(\w+)\([^`]*\)` \| (?:`([^`]*)`)? ?\|", PAGE.read_text(), re.MULTILINE))


def clipped(rows, length):
    return rows * np.minimum(1, length / np.linalg.norm(rows, axis=1))[:, None]


def squared_distances(rows):
    return ((rows[:, None] - rows[None]) ** 2).sum(axis=2)


def krum_scores(rows):
    return np.sort(squared_distances(rows), axis=1)[:, 1:len(rows) - f].mean(axis=1)


def weiszfeld(rows):
    z = np.zeros(rows.shape[1])
    for _ in range(3):
        weight = 1 / np.maximum(np.linalg.norm(rows - z, axis=1), 0.1)
        z = (rows * weight[:, None]).sum(axis=0) / weight.sum()
    return z


def nnm(rows):
    nearest = np.argsort(squared_distances(rows), axis=1, kind="stable")[:, :len(rows) - f]
    return rows[nearest].mean(axis=1)


def meamed(rows):
    order = np.argsort(abs(rows - np.median(rows, axis=0)), axis=0, kind="stable")[:len(rows) - f]
    return np.take_along_axis(rows, order, axis=0).mean(axis=0)


# Written from ByzFL's formulas with NumPy alone; what is random there is left out.
THEIRS = {
    "Average": lambda x: x.mean(axis=0),
    "Median": lambda x: np.median(x, axis=0),
    "TrMean": lambda x: np.sort(x, axis=0)[f:-f].mean(axis=0),
    "GeometricMedian": weiszfeld,
    "Krum": lambda x: x[krum_scores(x).argmin()],
    "MultiKrum": lambda x: x[np.argsort(krum_scores(x))[:len(x) - f]].mean(axis=0),
    "CenteredClipping": lambda x: clipped(x, 100).mean(axis=0),
    "MoNNA": lambda x: x[np.argsort(squared_distances(x)[0])[:len(x) - f]].mean(axis=0),
    "Meamed": meamed,
    "NNM": nnm,
    "Clipping": lambda x: clipped(x, 2),
    "SignFlipping": lambda x: -x.mean(axis=0, keepdims=True),
    "InnerProductManipulation": lambda x: -2 * x.mean(axis=0, keepdims=True),
    "ALittleIsEnough": lambda x: (x.mean(axis=0) + 1.5 * x.std(axis=0, ddof=1))[None],
    "Mimic": lambda x: x[:1],
    "Inf": lambda x: np.full((1, x.shape[1]), np.inf),
}


class ByzflNamesTest(unittest.TestCase):
    def test_the_page_has_every_public_name(self):
        public = """Average Median TrMean GeometricMedian Krum MultiKrum CenteredClipping MDA MoNNA Meamed CAF
            SMEA NNM Bucketing Clipping ARC SignFlipping InnerProductManipulation Optimal_InnerProductManipulation
            ALittleIsEnough Optimal_ALittleIsEnough Mimic Inf Gaussian LabelFlipping"""
        self.assertEqual(sorted(CALLS), sorted(public.split()))

    def test_every_call_computes_what_byzfl_does(self):
        compared = set()
        for name, call in CALLS.items():
            if not call:
                continue
            with self.subTest(name=name):
                result = eval(call, {**globals(), "rows": ROWS})
                self.assertEqual(result.shape[-1], ROWS.shape[1])
                if name in THEIRS:
                    np.testing.assert_allclose(result, THEIRS[name](ROWS.astype("float64")),
                                               rtol=2e-5, atol=2e-5)
                    compared.add(name)
        self.assertEqual(compared, set(THEIRS))

    def test_an_error_about_their_name_says_ours(self):
        ours = {entry["name"] for entry in
                ostraka.list_rules() + ostraka.list_pre() + ostraka.list_attacks()}
        asks = [lambda name: ostraka.aggregate(name, ROWS), lambda name: ostraka.attack(name, ROWS),
                lambda name: ostraka.mix(name, ROWS), lambda name: getattr(rules, name),
                lambda name: getattr(attacks, name)]
        for name, call in CALLS.items():
            for ask in asks:
                with self.subTest(name=name), self.assertRaises((ValueError, AttributeError)) as caught:
                    ask(name)
                found = re.search(rf"; {name} is the (rule|pre-aggregation|attack) '(\w+)'",
                                  str(caught.exception))
                self.assertTrue(found, str(caught.exception))
                self.assertIn(found[2], ours)
                self.assertTrue(not call or re.search(rf"\b{found[2]}\b", call), (name, call))

    def test_an_error_about_their_parameter_says_ours(self):
        honest = ROWS[:7]
        for ask, hint in [
                (lambda: attacks.ipm(honest, tau=3.0), "ByzFL's tau is eps here"),
                (lambda: attacks.alie(honest, tau=1.5), "ByzFL's tau is -z, with ddof=1, here"),
                (lambda: attacks.gaussian(honest, mu=0.0), "ByzFL's mu is mean here"),
                (lambda: attacks.sign_flip(honest, f=2), "ByzFL's f is byzantine, the number of attackers, here"),
                (lambda: attacks.opt_ipm(honest, evals=20), "ByzFL's evals is the fixed grid of the search here"),
                (lambda: attacks.opt_alie(honest, agg=1), "ByzFL's agg is rule, a Pipeline, here"),
                (lambda: rules.centered_clip(ROWS, m=1), "ByzFL's m is state, a State that the calls share, here"),
                (lambda: rules.krum(ROWS, nb_byz=2), "ByzFL's nb_byz is f here")]:
            with self.subTest(hint=hint), self.assertRaisesRegex(ValueError, re.escape(f"; {hint} (docs/from-byzfl.md)")):
                ask()
        with self.assertRaisesRegex(TypeError, "agg must be a number or a string; ByzFL's agg is rule, a Pipeline, here"):
            attacks.opt_ipm(honest, agg=Pipeline("krum", f=1))
        # No hint where the name has another meaning.
        with self.assertRaisesRegex(ValueError, "has no parameter 'tau'; did you mean|has no parameter 'tau'; known"):
            rules.krum(ROWS, f=2, tau=1)

    def test_what_is_given_in_their_way_is_answered_in_ours(self):
        for name in ("Krum", "NNM", "Mimic"):
            with self.assertRaisesRegex(AttributeError, f"no attribute '{name}'; {name} is the .* here"):
                getattr(ostraka, name)
        with self.assertRaisesRegex(AttributeError, "RobustAggregator is ostraka.Pipeline here"):
            ostraka.RobustAggregator
        with self.assertRaisesRegex(AttributeError, "`ostraka compare` trains"):
            ostraka.Server
        with self.assertRaisesRegex(AttributeError, "no attribute 'nothing'$"):
            ostraka.nothing
        with self.assertRaisesRegex(TypeError, r"^krum takes rows by position, and all else by name, as krum\(rows, f=2\)$"):
            rules.krum(ROWS, 2)
        with self.assertRaisesRegex(TypeError, r"as sign_flip\(honest, byzantine=3\)$"):
            attacks.sign_flip(ROWS, 3)
        with self.assertRaisesRegex(TypeError, "'clipping:c=2' here"):
            Pipeline("krum", f=2, pre=[{"name": "Clipping", "parameters": {"c": 2.0}}])

    def test_names_of_papers(self):
        with self.assertRaisesRegex(ValueError, "CWTM is the rule 'trimmed_mean' here"):
            ostraka.aggregate("CWTM", ROWS)


if __name__ == "__main__":
    unittest.main(verbosity=2)
