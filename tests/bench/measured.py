"""One command of ours whose JSON is a measurement: what the programs of this folder share."""
import json
import subprocess
import sys


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
