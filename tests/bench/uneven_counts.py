#!/usr/bin/env python3
"""Real nodes that average different numbers of batches, beside as many that average the same: what docs/measurements/local-steps.md says.

usage: uneven_counts.py run BINARY TEXT [STEPS]   eight nodes, two of which give a share of their machine: one JSON line an arm
       uneven_counts.py smoke BINARY              a small run, as a test

`even`: all average two batches. `uneven`: two nodes average one, by --cpu. The nodes share this machine, so the
seconds say what the work costs, and nothing about machines of different speeds. Exit code 1: an honest member was
removed, was late, or a node did not end well.
"""
import argparse
import json
import os
import resource
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from measured import StatusWatch, small_text

PEERS, SLOW = 8, 2
MODEL = ["--model", "gpt", "--layers", "1", "--width", "32", "--heads", "2", "--context", "32", "--batch-size", "8"]
# So long that a whole machine has the time for two batches, however busy, and a hundredth of it for one at most.
COUNTS = ["--most-batches", "2", "--inner-steps", "4", "--work-ms", "3000"]


def output_of(words):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, words))}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def listener():
    return socket.create_server(("127.0.0.1", 0))


def counts_of(blocks, ids):
    """The sum of each member's counts over all steps. A block lists those above one."""
    sums = dict.fromkeys(ids, 0)
    for block in blocks:
        counts = {each["peer"]: each["count"] for each in block.get("batches", [])}
        for key in ids:
            sums[key] += counts.get(key, 1)
    return list(sums.values())


def measure(binary, text, arm, peers, steps):
    with tempfile.TemporaryDirectory(prefix="uneven-counts-") as folder:
        folder = Path(folder)
        data = ["--data", f"text:{text}"]
        sockets = [listener() for _ in range(peers)]
        keys = [folder / f"{i}.key" for i in range(peers)]
        ids = [output_of([binary, "key", "new", key, "--no-passphrase"]).strip() for key in keys]
        members = []
        for key, sock in zip(ids, sockets):
            members += ["--member", f"{key}@127.0.0.1:{sock.getsockname()[1]}"]
        output_of([binary, "run", "init", "--out", folder / "run.toml", *MODEL, *data, *COUNTS, "--steps", str(steps), *members])
        with listener() as free:
            port = free.getsockname()[1]
        before, begun = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
        late_ms = []  # the most of any member, by each answer
        watch = StatusWatch(port, lambda status: late_ms.append(max(key["late_ms"] for key in status["keys"])))
        nodes = []
        for i, sock in enumerate(sockets):
            share = ["--cpu", "1%"] if arm == "uneven" and i < SLOW else []
            page = ["--http", f"127.0.0.1:{port}"] if i == 0 else []
            nodes.append(subprocess.Popen(
                [binary, "node", folder / "run.toml", "--key", keys[i], "--data-dir", folder / f"node{i}", "--listen-fd",
                 str(sock.fileno()), "--checkpoint-every", "0", "--evaluate-every", "0", *data, *share, *page],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, pass_fds=(sock.fileno(),)))
        said = [node.communicate()[1] for node in nodes]
        wall, after = time.monotonic() - begun, resource.getrusage(resource.RUSAGE_CHILDREN)
        watch.end()
        for node, words in zip(nodes, said):
            if node.returncode != 0:
                sys.exit(f"{arm}: a node's exit code is {node.returncode}: {words[-2000:]}")
        blocks = json.loads(output_of([binary, "ledger", "show", folder / "node0", "--json"]))["blocks"]
        counts = counts_of(blocks[1:], ids)
        processor = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return {"arm": arm, "steps": len(blocks) - 1, "counts": sum(counts), "counts_of": counts,
                "wall": round(wall, 1), "processor": round(processor, 1), "load": round(os.getloadavg()[0], 2),
                "late_ms": max(late_ms, default=0), "answers": len(late_ms), "removed": sum(len(block["removals"]) for block in blocks)}


def check(row):
    if row["late_ms"] or row["removed"] or not row["answers"]:
        sys.exit(f"an honest member was late or removed, or nothing was seen: {row}")


def run(options):
    for arm in ("even", "uneven"):
        row = measure(options.binary, options.text, arm, PEERS, options.steps)
        print(json.dumps(row), flush=True)
        check(row)


def smoke(options):
    with tempfile.TemporaryDirectory(prefix="uneven-counts-") as folder:
        row = measure(options.binary, small_text(folder), "uneven", 4, 16)
    check(row)
    slow, fast = row["counts_of"][:SLOW], row["counts_of"][SLOW:]
    if max(slow) >= min(fast):
        sys.exit(f"who gives a hundredth of a machine averaged as much as others: {row}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    command = commands.add_parser("run")
    command.set_defaults(body=run)
    command.add_argument("binary")
    command.add_argument("text")
    command.add_argument("steps", nargs="?", type=int, default=300)
    command = commands.add_parser("smoke")
    command.set_defaults(body=smoke)
    command.add_argument("binary")
    options = parser.parse_args()
    options.body(options)


if __name__ == "__main__":
    main()
