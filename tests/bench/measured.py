"""One command of ours whose JSON is a measurement: what the programs of this folder share."""
import json
import random
import subprocess
import sys
import threading
import urllib.request
from pathlib import Path


def measured(binary, command, *options, wrong, must_pass=True):
    """`BINARY COMMAND --json OPTIONS` as a dict. `wrong` is the key that says why it is not ok.

    A run that failed ends the program with exit code 1 unless must_pass is false: a table of failed
    runs would be no measurement. stderr gets one line a run.
    """
    words = [binary, command, "--json", *map(str, options)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    if done.returncode not in (0, 1) or not done.stdout:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    print(" ".join(words[2:]), "->", "ok" if result["ok"] else result[wrong], file=sys.stderr)
    if must_pass and not result["ok"]:
        sys.exit(1)
    return result


def by_rule(rules):
    """Which rules removed how many, of `ostraka sim --json`: most frequent first, as a table's cell."""
    ordered = sorted(rules.items(), key=lambda rule: (-rule[1], rule[0]))
    return "; ".join(f"{count:,} {rule}" for rule, count in ordered) or "-"


class StatusWatch:
    """Gives `see` what a node's /status answers, ten times a second, from now until end()."""

    def __init__(self, port, see):
        self._address = f"http://127.0.0.1:{port}/status"
        self._see = see
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._watch)
        self._thread.start()

    def _watch(self):
        while not self._ended.wait(0.1):
            try:
                with urllib.request.urlopen(self._address, timeout=5) as answer:
                    self._see(json.load(answer))
            except (OSError, ValueError, KeyError):
                continue  # not yet there, not begun, or gone

    def end(self):
        self._ended.set()
        self._thread.join()


def small_text(folder):
    """A file to train on, of some kilobytes; equal in every run."""
    text = Path(folder) / "text"
    text.write_text(" ".join(random.Random(1).choices(["to be", "or not", "that is", "the question"], k=4000)))
    return text
