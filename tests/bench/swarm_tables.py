#!/usr/bin/env python3
"""The tables of docs/benchmarks.md and docs/measurements, measured: real swarms of real nodes on this machine.

usage: tests/bench/swarm_tables.py BINARY accuracy|unprotected|price|models|attacks [--seeds N] [--attack NAME ...]
                                          [--peers N] [--byzantine B]

Each prints a Markdown table and, on stderr, one line a run. A run that is not ok ends the program
with exit code 1: a table of failed runs would be no measurement.
"""
import argparse
import collections
import re
import statistics
import sys
import tempfile
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1] / "e2e"))
import image_files  # noqa: E402
from measured import measured  # noqa: E402

CNN_RATE = 0.3  # the best of 0.3, 0.5 and 1 on the validation part of digits
# On the protocol, with parameters; the gradient attacks are ATTACKS.
PROTOCOL_ATTACKS = [
    "equivocate", "equivocate split=1", "wrong_aggregate", "false_proof", "cover_up", "false_accuse",
    "false_complaint", "abort_coin", "bad_reveal", "silent", "late", "selective_send",
    "selective_send rotate=1", "lying_echo", "double_propose", "withhold_echo", "withhold_result"]
ATTACKS = ["none", "sign_flip", "random_direction", "label_flip", "alie", "ipm"]
# Those and the others that docs/attacks.md takes from the literature and the public code.
MORE_ATTACKS = ["delayed", "inf", "mimic", "gaussian", "bit_flip"]


def swarm(binary, *options, must_pass=True):
    """One `ostraka swarm --json` with these options, as a dict."""
    return measured(binary, "swarm", *options, wrong="problems", must_pass=must_pass)


def value_of(result):
    """The metric; None if training blew up or ended before it was measured."""
    return result["metric"]["value"] if result["metric"] else None


def honest_removed(run):
    """How many honest peers were banned or dropped, those that returned included."""
    return len({removal["peer"] for removal in run["removals"]} - set(run["byzantine"]))


def accuracy(binary, seeds, only, peers, byzantine):
    """Accuracy over seeds under each attack, beside the run with no attacker."""
    print(f"| attack | accuracy, mean of {seeds} seeds | min | max | last ban at step, by seed | honest removed |")
    print("|---|---|---|---|---|---|")
    for attack in only or ATTACKS + MORE_ATTACKS:
        runs = [swarm(binary, "--peers", peers, "--byzantine", byzantine, "--attack", attack, "--seed", seed)
                for seed in range(seeds)]
        values = [value_of(run) for run in runs]
        bans = [max((removal["step"] for removal in run["removals"]), default="-") for run in runs]
        removed = sum(honest_removed(run) for run in runs)
        print(f"| {attack} | {statistics.mean(values):.4f} | {min(values):.4f} | {max(values):.4f} | "
              f"{' '.join(map(str, bans))} | {removed} |", flush=True)


def unprotected(binary, seeds):
    """The same attacks on plain averaging and on the protected run."""
    print("| attack | plain averaging: accuracy | protected: accuracy | plain: how it ended |")
    print("|---|---|---|---|")
    for attack in ATTACKS:
        plain = [swarm(binary, "--attack", attack, "--seed", seed, "--unprotected", must_pass=False)
                 for seed in range(seeds)]
        safe = [swarm(binary, "--attack", attack, "--seed", seed) for seed in range(seeds)]
        plain_values = [value_of(run) for run in plain]
        known = [value for value in plain_values if value is not None]
        shown = f"{statistics.mean(known):.4f}" if len(known) == len(plain) else "none"
        ends = "all steps" if all(run["ok"] for run in plain) else plain[0]["problems"][0]
        print(f"| {attack} | {shown} | {statistics.mean(map(value_of, safe)):.4f} | {ends} |", flush=True)


def price(binary, seeds):
    """What protection costs: seconds a step by part, bytes against the butterfly's floor, memory."""
    del seeds  # sizes, not seeds
    print("| parameters | run | compute ms | aggregate ms | agree ms | total ms | samples a second "
          "| payload MB a step and node | floor 2d(k-1)/k floats, MB | all bytes / payload | peak MiB a node |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    batch = 32
    for hidden in (133, 1333, 13333, 40000):  # mlp 64-h-10: 75 h + 10 parameters
        for name, flags in (("protected", []), ("plain", ["--unprotected"])):
            run = swarm(binary, "--attack", "none", "--byzantine", 0, "--hidden", hidden, "--steps", 40,
                        "--batch-size", batch, "--evaluate-every", 0, *flags)
            seconds = run["seconds_per_step"]
            # One of eight validates from step 2 on, so that k = 7 aggregate; plain averaging has k = 8.
            k = 7 if name == "protected" else 8
            floor = 2 * run["parameters"] * (k - 1) / k * 4
            all_bytes = run["bytes_sent"] / run["peers"] / run["steps"]
            print(f"| {run['parameters']} | {name} | {seconds['compute'] * 1e3:.1f} | "
                  f"{seconds['aggregate'] * 1e3:.1f} | {seconds['agree'] * 1e3:.1f} | "
                  f"{seconds['total'] * 1e3:.1f} | {k * batch / seconds['total']:.0f} | "
                  f"{run['payload_bytes_per_step'] / 1e6:.3f} | "
                  f"{floor / 1e6:.3f} | {all_bytes / run['payload_bytes_per_step']:.2f} | "
                  f"{run['peak_rss_bytes'] / 2**20:.0f} |", flush=True)


def models(binary, seeds):
    """Models and data formats: accuracy, and seconds a step without an attacker and under sign_flip."""
    print("| model | data | parameters | attack | accuracy, mean (min) of "
          f"{seeds} seeds | compute ms | aggregate ms | agree ms | total ms | peak MiB a node |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ostraka-bench-") as folder:
        mnist, cifar = Path(folder) / "mnist", Path(folder) / "cifar"
        image_files.write_mnist(mnist, 1797, 355)
        image_files.write_cifar10(cifar, 299)
        rows = [("mlp", "digits", 1.0, 200), ("cnn", "digits", CNN_RATE, 200),
                ("cnn", f"mnist:{mnist}", CNN_RATE, 100), ("cnn", f"cifar10:{cifar}", CNN_RATE, 40)]
        for model, data, rate, steps in rows:
            for attack, byzantine in (("none", 0), ("sign_flip", 3)):
                runs = [swarm(binary, "--model", model, "--data", data, "--learning-rate", rate, "--steps",
                              steps, "--attack", attack, "--byzantine", byzantine, "--seed", seed,
                              "--evaluate-every", 0) for seed in range(seeds)]
                values = [value_of(run) for run in runs]
                times = [statistics.mean(run["seconds_per_step"][part] for run in runs) * 1e3
                         for part in ("compute", "aggregate", "agree", "total")]
                peak = max(run["peak_rss_bytes"] for run in runs) / 2**20
                print(f"| {model} | {data.split(':')[0]} | {runs[0]['parameters']} | {attack} | "
                      f"{statistics.mean(values):.4f} ({min(values):.4f}) | "
                      + " | ".join(f"{time:.1f}" for time in times) + f" | {peak:.0f} |", flush=True)


def attacks(binary, seeds, only):
    """How a swarm of real processes ends each attack on the protocol: which rule, when, at what loss."""
    print("| attack | peers | ended by | at steps | removed | honest dropped | steps run | accuracy | seconds |")
    print("|---|---|---|---|---|---|---|---|---|")
    for attack in only or PROTOCOL_ATTACKS:
        name, *parameters = attack.split()
        flags = [word for parameter in parameters for word in ("--attack-param", parameter)]
        for peers, byzantine in ((8, 3), (16, 7)):
            for seed in range(seeds):
                run = swarm(binary, "--peers", peers, "--byzantine", byzantine, "--attack", name, *flags,
                            "--model", "softmax", "--steps", 60, "--seed", seed, must_pass=False)
                rules = collections.Counter((removal["kind"], re.sub(r"[0-9a-f]{16}|[0-9]+", "_", removal["reason"]))
                                            for removal in run["removals"])
                ended = "; ".join(f"{count} x {kind}: {reason}" for (kind, reason), count in
                                  rules.most_common(3)) or "contained"
                at = sorted({removal["step"] for removal in run["removals"]})
                removed = len({removal["peer"] for removal in run["removals"]}) - honest_removed(run)
                print(f"| `{attack}` | {peers}/{byzantine} | {ended} | {', '.join(map(str, at[:8])) or '-'} | "
                      f"{removed} of {byzantine} | {honest_removed(run)} | {run['steps']} | "
                      f"{value_of(run) or 0:.3f} | {run['seconds']:.0f} |", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("table", choices=["accuracy", "unprotected", "price", "models", "attacks"])
    parser.add_argument("--seeds", type=int, default=5)
    parser.add_argument("--attack", action="append", help="accuracy, attacks: only these; attacks: as `name key=value`")
    parser.add_argument("--peers", type=int, default=8, help="accuracy: nodes")
    parser.add_argument("--byzantine", type=int, default=3, help="accuracy: how many of them attack")
    options = parser.parse_args()
    if options.table == "attacks":
        attacks(options.binary, options.seeds, options.attack)
        return
    if options.table == "accuracy":
        accuracy(options.binary, options.seeds, options.attack, options.peers, options.byzantine)
        return
    {"unprotected": unprotected, "price": price, "models": models}[options.table](
        options.binary, options.seeds)


if __name__ == "__main__":
    main()
