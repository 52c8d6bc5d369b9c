#!/usr/bin/env python3
"""What local steps cost and give, in real swarms on this machine: the tables of docs/measurements/local-steps.md.

usage: local_steps.py run BINARY TEXT RESULTS TABLE...   measure; one JSON line a run is added to RESULTS
       local_steps.py table RESULTS TABLE...             print as Markdown what RESULTS has
       local_steps.py smoke BINARY                       two small runs, as a test

A TABLE is price, wan, quality, attack or large. Runs that RESULTS has are not repeated, so that a measurement which was
stopped goes on. A run that is not ok ends the program with exit code 1.

A run with local steps ends with five settle steps in which nobody computes. What a step costs that trains is
therefore a difference: of a run with many such steps less one with few, over their difference. In the settle steps
only the exchange is left, which `wan` shows.
"""
import argparse
import json
import os
import resource
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measured import StatusWatch, small_text

SETTLE = 5
PEERS = 8
# The machine is shared by all nodes: nobody shall be late because of it.
PATIENT = ["--part-timeout-ms", "600000", "--delta-ms", "20000", "--patience-ms", "300000"]
SMALL, LARGE = "128", "256"  # width of a gpt of 4 layers: 0.83 and 3.2 million parameters
CODECS = {1: ("raw", "raw"), 16: ("i8", "i16"), 32: ("i4", "i16")}
# Of an exchange of gradients, where the codecs are compared.
GRADIENTS = ["--optimizer", "adamw", "--learning-rate", "0.002", "--schedule", "cosine", "--warmup", "20"]


def gpt(width, batch):
    return ["--model", "gpt", "--layers", "4", "--width", width, "--heads", "4", "--context", "64", "--batch-size", batch]


def local(inner_steps, codecs=None):
    parts, results = codecs or CODECS[inner_steps]
    codec = ["--part-codec", parts, "--result-codec", results]
    return (["--inner-steps", str(inner_steps)] if inner_steps > 1 else []) + codec


def price_arms():
    """(name, options) of each run. Short and long differ by as many steps that train as take half a minute or more."""
    for width, repeats in ((SMALL, 3), (LARGE, 2)):
        for repeat in range(repeats):
            for inner_steps in (1, 16, 32):
                more = max(4, {SMALL: 160, LARGE: 64}[width] // inner_steps)
                for kind in ("protected", "plain"):
                    for length, steps in (("short", SETTLE + 3), ("long", SETTLE + 3 + more)):
                        plain = ["--unprotected"] if kind == "plain" else []
                        yield (f"price {width} {inner_steps} {repeat} {kind} {length}",
                               [*gpt(width, "8"), *local(inner_steps), "--steps", str(steps), "--evaluate-every", "0",
                                *PATIENT, *plain])


def wan_arms():
    """The step's work differs by machine, so its share is computed for a work of 20 s; the exchange is measured."""
    for rate in ("100M", "20M"):
        for inner_steps in (1, 16, 32):
            # Local steps of rate 0 move nothing, so settle steps show the exchange alone; of H = 1 they are computed.
            yield (f"wan {rate} {inner_steps}", [*gpt(LARGE, "8"), *local(max(inner_steps, 2), CODECS[inner_steps]),
                                                 "--steps", str(SETTLE + 1), "--evaluate-every", "0",
                                                 "--wan", f"{rate}:50ms", *PATIENT])


def quality_arms():
    """At 0.83 million parameters, equal batches: what codecs and H cost in loss."""
    for seed in (0, 1, 2):
        for inner_steps, rates in ((16, ["--inner-rate", "0.003", "--steps", "45"]), (1, [*GRADIENTS, "--steps", "160"])):
            for codecs in (("raw", "raw"), ("i8", "i16"), ("i4", "i16")):
                yield (f"quality {inner_steps} {codecs[0]}/{codecs[1]} {seed}",
                       [*gpt(SMALL, "8"), *local(inner_steps, codecs), *rates, "--seed", str(seed),
                        "--evaluate-on", "validation", "--evaluate-every", "0", *PATIENT])


def attack_arms():
    """At 3.2 million parameters: what two liars of eight cost, by codec."""
    for attack in ("none", "push"):
        for codecs in (("i8", "i16"), ("raw", "raw")):
            # A thousand times the honest mean, against it.
            liars = ["--byzantine", "2", "--attack", "ipm", "--attack-param", "eps=1000"] if attack == "push" else []
            yield (f"attack 16 {codecs[0]}/{codecs[1]} {attack}",
                   [*gpt(LARGE, "8"), *local(16, codecs), "--inner-rate", "0.003", "--steps", str(SETTLE + 40), *liars,
                    "--evaluate-on", "validation", "--evaluate-every", "10", *PATIENT])


def large_arms():
    """50 million parameters, four members: it ends with equal states; memory, disk, the longest stall."""
    shape = ["--model", "gpt", "--layers", "16", "--width", "512", "--heads", "8", "--context", "64", "--batch-size", "1"]
    for inner_steps in (4, 1):
        yield (f"large {inner_steps}", [*shape, *local(inner_steps, ("i8", "raw")), "--peers", "4", "--steps", str(SETTLE + 3),
                                        "--evaluate-every", "0", *PATIENT])


TABLES = {"price": price_arms, "wan": wan_arms, "quality": quality_arms, "attack": attack_arms, "large": large_arms}


class Watch:
    """Reads node 0's /status ten times a second; steps() are [seconds of the clock, compute, aggregate, agree] of each
    step that was seen to end alone."""

    def __init__(self, port):
        self._seen = {}
        self._watch = StatusWatch(port, self._see)

    def _see(self, status):
        steps = status["counters"]["steps"]
        parts = steps["part_seconds"]
        self._seen.setdefault(steps["done"], (time.monotonic(), parts["compute"], parts["aggregate"], parts["agree"]))

    def steps(self):
        self._watch.end()
        return {done - 1: [round(now - before, 3) for now, before in zip(self._seen[done], self._seen[done - 1])]
                for done in self._seen if done - 1 in self._seen}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def disk_bytes(folder):
    return max(sum(path.stat().st_size for path in node.rglob("*") if path.is_file())
               for node in Path(folder).iterdir() if node.is_dir() and node.name.startswith("node"))


def measure(binary, text, name, options):
    port = free_port()
    with tempfile.TemporaryDirectory(prefix="local-steps-") as folder:
        own = [] if "--peers" in options else ["--peers", str(PEERS)]
        own += [] if "--attack" in options else ["--byzantine", "0", "--attack", "none"]
        words = [binary, "swarm", "--json", *own, "--data", f"text:{text}",
                 "--checkpoint-every", "0", "--out", f"{folder}/out", *options]
        before, load, begun = resource.getrusage(resource.RUSAGE_CHILDREN), os.getloadavg()[0], time.monotonic()
        watch = Watch(port)
        done = subprocess.run([*words, "--http", f"127.0.0.1:{port}"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              text=True, check=False)
        wall, after, steps = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN), watch.steps()
        if done.returncode != 0:
            sys.exit(f"{name}: {' '.join(words)}: exit {done.returncode}: {done.stderr.strip()[-2000:]}")
        run = json.loads(done.stdout)
        return {"name": name, "command": " ".join(["ostraka", *words[1:]]), "parameters": run["parameters"],
                "steps": run["steps"], "peers": run["peers"], "loss": run["metric"] and run["metric"]["loss"],
                "curve": run["loss"], "removed_in": [one["step"] for one in run["removals"]],
                "honest_removed": run["honest_banned"] + run["honest_dropped"],
                "processor": round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 2),
                "wall": round(wall, 2), "load_before": round(load, 2), "load_after": round(os.getloadavg()[0], 2),
                "bytes_sent": run["bytes_sent"], "payload_bytes_per_step": run["payload_bytes_per_step"],
                "peak_mib": round(run["peak_rss_bytes"] / 2**20), "longest_turn": round(run["longest_turn_seconds"], 3), "disk_mib": round(disk_bytes(f"{folder}/out") / 2**20),
                "wan": run.get("wan"), "states_equal": run["state_roots_equal"], "each_step": steps}


def rows_of(path):
    path = Path(path)
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()] if path.exists() else []


def run(options):
    known = {row["name"] for row in rows_of(options.results)}
    for table in options.table:
        for name, words in TABLES[table]():
            if name in known:
                continue
            row = measure(options.binary, options.text, name, words)
            with open(options.results, "a", encoding="utf-8") as results:
                results.write(json.dumps(row) + "\n")
            print(f"{name}: {row['wall']} s wall, {row['processor']} s of processor time, loss {row['loss']}",
                  file=sys.stderr, flush=True)


def spread(values, digits):
    middle = f"{statistics.median(values):.{digits}f}"
    return middle if len(values) == 1 else f"{middle} ({min(values):.{digits}f} to {max(values):.{digits}f})"


def price_table(rows):
    """Per step that trains: long less short."""
    print("| parameters | H, codecs | repeats | processor ms a step and node, protected | plain | ratio | MB sent a step and "
          "node, protected | of it payload | plain |")
    print("|---|---|---|---|---|---|---|---|---|")
    pairs = {}
    for name, row in rows.items():
        _, width, inner_steps, repeat, kind, length = name.split()
        pairs.setdefault((int(width), int(inner_steps)), {}).setdefault(int(repeat), {})[kind, length] = row
    for (_, inner_steps), repeats in sorted(pairs.items()):
        whole = [four for four in repeats.values() if len(four) == 4]
        if not whole:
            continue

        def each(kind, field):
            ends = [(four[kind, "long"], four[kind, "short"]) for four in whole]
            return [(long[field] - short[field]) / (long["steps"] - short["steps"]) / PEERS for long, short in ends]

        ours, plain = each("protected", "processor"), each("plain", "processor")
        ratios = [mine / theirs for mine, theirs in zip(ours, plain)]
        some = whole[0]["protected", "long"]
        print(f"| {some['parameters']} | {inner_steps}, {'/'.join(CODECS[inner_steps])} | {len(whole)} "
              f"| {spread([value * 1e3 for value in ours], 0)} | {spread([value * 1e3 for value in plain], 0)} "
              f"| {spread(ratios, 3)} | {statistics.median(each('protected', 'bytes_sent')) / 1e6:.2f} "
              f"| {some['payload_bytes_per_step'] / 1e6:.2f} | {statistics.median(each('plain', 'bytes_sent')) / 1e6:.2f} |")


def wan_table(rows):
    print("| line | H, codecs | exchange of a step, s | payload, MB out a node | all bytes over the lines, MB a step and node "
          "| share of a step with 20 s of work |")
    print("|---|---|---|---|---|---|")
    for name, row in rows.items():
        _, rate, inner_steps = name.split()
        settle = [step[2] + step[3] for number, step in row["each_step"].items() if int(number) >= row["steps"] - SETTLE]
        exchange = statistics.median(settle)
        print(f"| {rate}:50ms | {inner_steps}, {'/'.join(CODECS[int(inner_steps)])} | {spread(settle, 2)} "
              f"| {row['payload_bytes_per_step'] / 1e6:.2f} | {row['wan']['bytes'] / row['steps'] / row['peers'] / 1e6:.2f} "
              f"| {exchange / (exchange + 20) * 100:.1f} % |")


def quality_table(rows):
    print("| H, codecs | loss by seed | mean | seconds |")
    print("|---|---|---|---|")
    groups = {}
    for name, row in rows.items():
        groups.setdefault(" ".join(name.split()[1:3]), []).append(row)
    for name, group in groups.items():
        losses = [row["loss"] for row in group]
        print(f"| {name} | {', '.join(f'{loss:.3f}' for loss in losses)} | {statistics.mean(losses):.3f} "
              f"| {', '.join(str(round(row['wall'])) for row in group)} |")


def attack_table(rows):
    print("| attack | codecs | loss | liars removed in step | honest members removed |")
    print("|---|---|---|---|---|")
    for name, row in rows.items():
        _, _, codecs, attack = name.split()
        print(f"| {attack} | {codecs} | {', '.join(f'{loss:.3f}' for loss in row['curve'])} "
              f"| {', '.join(str(step) for step in row['removed_in']) or '-'} | {row['honest_removed']} |")


def large_table(rows):
    print("| H, i8 and raw | parameters | peak of a node, MiB | bytes a parameter | disk of a node, MiB | wall s "
          "| longest step, s | longest turn of the protocol thread, s | states equal |")
    print("|---|---|---|---|---|---|---|---|---|")
    for name, row in rows.items():
        longest = max(step[0] for step in row["each_step"].values())
        print(f"| {name.split()[1]} | {row['parameters']} | {row['peak_mib']} | {row['peak_mib'] * 2**20 / row['parameters']:.0f} "
              f"| {row['disk_mib']} | {row['wall']:.0f} | {longest:.1f} | {row['longest_turn']:.2f} | {'yes' if row['states_equal'] else 'no'} |")


PRINTERS = {"price": price_table, "wan": wan_table, "quality": quality_table, "attack": attack_table, "large": large_table}


def table(options):
    if not Path(options.results).exists():
        sys.exit(f"{options.results}: no such file: measure with `run` first")
    rows = {row["name"]: row for row in rows_of(options.results)}
    for wanted in options.table:
        PRINTERS[wanted]({name: row for name, row in rows.items() if name.split()[0] == wanted})
        print()


def smoke(options):
    """The watch sees the steps' parts add up, and each table takes what is measured."""
    model = ["--model", "gpt", "--layers", "1", "--width", "16", "--heads", "2", "--context", "16", "--batch-size", "4",
             "--evaluate-every", "0", *PATIENT]
    with tempfile.TemporaryDirectory(prefix="local-steps-") as folder:
        text = small_text(folder)
        wan = ["--wan", "100M:50ms"]  # its steps take long enough to be seen one by one
        one = measure(options.binary, text, "wan 100M 16", [*model, *local(16), *wan, "--steps", "8", "--peers", "4"])
    steps = list(one["each_step"].values())
    if len(steps) < 4 or any(sum(step[1:]) > step[0] + 0.5 for step in steps):
        sys.exit(f"of 8 steps these were seen, in seconds: {one['each_step']}")
    if not one["states_equal"] or one["processor"] <= 0 or one["wan"]["bytes"] < one["bytes_sent"]:
        sys.exit(f"measured {one}")
    for name, printer in PRINTERS.items():
        names = {"price": [f"price 128 16 0 {kind} {length}" for kind in ("protected", "plain") for length in ("short", "long")],
                 "quality": ["quality 16 i8/i16 0"], "attack": ["attack 16 i8/i16 push"], "wan": ["wan 100M 16"], "large": ["large 4"]}[name]
        printer({each: dict(one, steps=one["steps"] + 4 * ("long" in each), processor=one["processor"] * (2 if "long" in each else 1))
                 for each in names})


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, body, words in (("run", run, "binary text results"), ("table", table, "results")):
        command = commands.add_parser(name)
        command.set_defaults(body=body)
        for word in words.split():
            command.add_argument(word)
        command.add_argument("table", nargs="+", choices=TABLES)
    command = commands.add_parser("smoke")
    command.set_defaults(body=smoke)
    command.add_argument("binary")
    options = parser.parse_args()
    options.body(options)


if __name__ == "__main__":
    main()
