#!/usr/bin/env python3
"""The rules from Python beside ByzFL and ByzPy, on the same tensors, in one run.

usage: PYTHONPATH=build/release/python python_peers.py [--sizes 16x1000000,...] [--threads T]
                                                      [--seconds S] [--json FILE]

Peers come from the Python registry; they need torch, and only what their rules need is asked for:
    python3 -m venv --system-site-packages peers     # Debian's python3-torch and python3-numpy
    peers/bin/pip install --no-deps byzfl byzpy && peers/bin/pip install scipy==1.10.1 cloudpickle
    PYTHONPATH=build/release/python peers/bin/python tests/bench/python_peers.py
A peer that is not installed is left out and said so; without torch the rows are NumPy's.

A cell is the fastest of the runs that fit in --seconds, ours and the peers' in turns, so that all
meet the same machine; "floor" is what reading the rows once takes (torch.sum, or numpy.sum), times
the passes that the registry states for the rule. Results that should agree are compared.
"""
import argparse
import functools
import json
import math
import sys
import time
from unittest import mock

import numpy as np

import ostraka

try:
    import torch
except ImportError:
    torch = None
    print("torch is not installed: rows are NumPy's and there are no peers", file=sys.stderr)


@functools.cache
def byzfl():
    # Its package imports what its data sets and plots need, which no rule does.
    for name in ["torchvision", "torchvision.datasets", "torchvision.transforms", "matplotlib",
                 "matplotlib.pyplot", "seaborn"]:
        try:
            __import__(name)
        except ImportError:
            sys.modules[name] = mock.MagicMock()
    try:
        import byzfl as module
    except ImportError as error:
        print(f"ByzFL is left out: {error}", file=sys.stderr)
        return None
    return module


@functools.cache
def byzpy():
    try:
        from byzpy import pre_aggregators
        from byzpy.aggregators import coordinate_wise, geometric_wise, norm_wise
    except ImportError as error:
        print(f"ByzPy is left out: {error}", file=sys.stderr)
        return None
    found = {}
    for module in [coordinate_wise, geometric_wise, norm_wise, pre_aggregators]:
        found.update(vars(module))
    return found


def cells(f):
    """(name, ours, ByzFL's, ByzPy's, whether all three define the same)."""
    def fl(name, *args, **kwargs):
        return lambda: getattr(byzfl(), name)(*args, **kwargs) if byzfl() else None

    def py(name, *args, method="aggregate", **kwargs):
        return lambda: getattr(byzpy()[name](*args, **kwargs), method) if byzpy() else None

    rule = ostraka.Pipeline
    return [
        ("mean", rule("mean"), fl("Average"), None, True),
        ("centered_clip", rule("centered_clip", tau=100, eps=1e-6),
         fl("CenteredClipping", L=1, tau=100.0), py("CenteredClipping", c_tau=100.0, M=10), False),
        ("krum", rule("krum", f=f, variant="byzfl"), fl("Krum", f), py("Krum", f), True),
        ("multi_krum", rule("multi_krum", f=f, variant="byzfl"), fl("MultiKrum", f), None, True),
        ("mda", rule("mda", f=f), fl("MDA", f), py("MinimumDiameterAveraging", f), True),
        # ByzFL's estimate of an eigenvalue is random: it need not agree with anything.
        ("smea", rule("smea", f=f), fl("SMEA", f), py("SMEA", f), False),
        ("geometric_median", rule("geometric_median"), fl("GeometricMedian"),
         py("GeometricMedian"), False),
        ("median", rule("median"), fl("Median"), py("CoordinateWiseMedian"), False),
        ("trimmed_mean", rule("trimmed_mean", f=f), fl("TrMean", f),
         py("CoordinateWiseTrimmedMean", f), True),
        ("meamed", rule("meamed", f=f), fl("Meamed", f), py("MeanOfMedians", f), True),
        ("nnm", lambda x, threads: ostraka.mix("nnm", x, f=f, threads=threads), fl("NNM", f),
         py("NearestNeighborMixing", f, method="pre_aggregate"), True),
    ]


def fits(name, n, f):
    # Subsets: 3e12 of them at n = 64, f = 12.
    return name not in ("mda", "smea") or math.comb(n, f) < 100_000


def passes_of(name):
    for entry in ostraka.list_rules() + ostraka.list_pre():
        if entry["name"] == name:
            return entry["passes"] + entry["writes"]
    raise LookupError(name)


def timed(call):
    begin = time.perf_counter()
    result = call()
    return time.perf_counter() - begin, result


def as_numpy(result):
    if isinstance(result, (list, tuple)):
        result = [as_numpy(row) for row in result]
    return np.asarray(result)


def measure(contestants, seconds):
    """The fastest run and the result of each, in turns until the time is up. A peer that finds no
    memory has neither."""
    best, results, failed = {}, {}, set()
    begin = time.perf_counter()
    while True:
        for name, call in contestants.items():
            # What alone would use up the time runs once.
            if name in best and best[name] > seconds / 2:
                continue
            if name in failed:
                continue
            try:
                taken, results[name] = timed(call)
            except (MemoryError, RuntimeError) as error:  # torch says that it has no memory so
                if name in ("read", "ostraka"):
                    raise
                print(f"{name}: {str(error).splitlines()[0]}", file=sys.stderr)
                failed.add(name)
                continue
            best[name] = min(taken, best.get(name, math.inf))
        if time.perf_counter() - begin > seconds or all(b > seconds / 2 for b in best.values()):
            return best, results


def run_size(n, d, options):
    f = {16: 3, 64: 12}.get(n, (n - 3) // 4)
    rng = np.random.default_rng(1)
    x = rng.standard_normal((n, d), dtype="float32")
    rows = torch.from_numpy(x) if torch else x
    results = []
    for name, ours, fl, py, same in cells(f):
        if not fits(name, n, f):
            continue
        contestants = {"read": rows.sum, "ostraka": lambda: ours(rows, threads=options.threads)}
        peers = {"byzfl": fl() if fl and torch else None, "byzpy": py() if py and torch else None}
        for peer, call in peers.items():
            # 40 s a call at d = 1e6, and the wrong subset.
            if call is None or (name, peer) == ("smea", "byzfl") and d > 100_000:
                continue
            argument = rows if peer == "byzfl" else list(rows)
            contestants[peer] = functools.partial(call, argument)
        best, values = measure(contestants, options.seconds)
        row = {"rule": name, "n": n, "d": d, "f": f, "threads": options.threads,
               "floor_ms": 1000 * best["read"] * passes_of(name)}
        for who in ["ostraka", "byzfl", "byzpy"]:
            row[who + "_ms"] = 1000 * best[who] if who in best else None
        if same:
            for who in ["byzfl", "byzpy"]:
                if who in values:
                    gap = np.abs(as_numpy(values[who]) - as_numpy(values["ostraka"])).max()
                    row[who + "_differs_by"] = float(gap)
        results.append(row)
        print(markdown(row), flush=True)
    return results


def markdown(row):
    def cell(value):
        return "-" if value is None else f"{value:.3g}"

    def times(peer):
        ms = row[peer + "_ms"]
        return "-" if ms is None else f"{ms / row['ostraka_ms']:.1f}x"
    return (f"| {row['rule']} | {row['n']} | {row['d']} | {cell(row['floor_ms'])} | "
            f"{cell(row['ostraka_ms'])} | {cell(row['byzfl_ms'])} | {times('byzfl')} | "
            f"{cell(row['byzpy_ms'])} | {times('byzpy')} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sizes", default="16x100000,16x1000000,64x100000")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=3.0, help="for each cell")
    parser.add_argument("--json", help="also write the numbers there")
    options = parser.parse_args()
    if torch:
        torch.set_num_threads(options.threads)
    print("| rule | n | d | floor ms | ostraka ms | ByzFL ms | ours faster | ByzPy ms | ours faster |"
          "\n|---|---|---|---|---|---|---|---|---|")
    results = []
    for size in options.sizes.split(","):
        n, d = map(int, size.split("x"))
        results += run_size(n, d, options)
    if options.json:
        with open(options.json, "w", encoding="utf-8") as file:
            json.dump({"results": results}, file, indent=1)


if __name__ == "__main__":
    main()
