#!/usr/bin/env python3
"""Training under attack: a gpt of 3 million parameters, eight real nodes, three of them attackers.

usage: gpt_under_attack.py run BINARY TEXT FOLDER RESULTS ARM...  measure; one JSON line an arm is added to RESULTS
       gpt_under_attack.py one ONE_PROCESS TEXT FOLDER RESULTS ARM...  what one process learns from the same samples
       gpt_under_attack.py table RESULTS                          the table of docs/benchmarks.md
       gpt_under_attack.py plot RESULTS FILE.svg                  its figure
       gpt_under_attack.py smoke BINARY ONE_PROCESS               a small run beside one process, as a test

An ARM is ATTACK:SEED or ATTACK:SEED:unprotected; the attack `none` has no attackers. FOLDER keeps a folder for each
arm: what `one` reads (tests/bench/one_process.cpp), and of a run that was not ok everything. `one` trains on the
samples of the honest workers; without attackers those are all.
"""
import argparse
import collections
import datetime
import json
import math
import os
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from pathlib import Path

PEERS, BYZANTINE, EVERY = 8, 3, 20
MODEL = ["--model", "gpt", "--layers", "4", "--width", "256", "--heads", "4", "--context", "64", "--batch-size", "16"]
UPDATE = ["--optimizer", "adamw", "--learning-rate", "0.002", "--schedule", "cosine", "--warmup", "60"]
# The machine has other work at times: nobody shall be late because of it.
PATIENCE = ["--part-timeout-ms", "600000", "--delta-ms", "20000", "--patience-ms", "300000"]
STEPS = 300
# Colours that differ for the colour-blind too (Okabe and Ito), by attack.
COLOURS = {"none": "#000000", "sign_flip": "#d55e00", "alie": "#0072b2", "label_flip": "#009e73", "ipm": "#cc79a7",
           "random_direction": "#e69f00"}


def output_of(words, codes=(0,)):
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode not in codes or not done.stdout:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
    return done.stdout


def fates_of(binary, node):
    """Of the steps that trained: how many applied no column, and how many columns of others were not applied."""
    void_steps, void_columns = 0, collections.Counter()
    for block in json.loads(output_of([binary, "ledger", "show", "--json", str(node)]))["blocks"]:
        if block["genesis"] or "closes" in block:
            continue
        if block["applied"] == 0:
            void_steps += 1
        else:
            void_columns.update(fate for fate in block["columns"] if fate != "applied")
    return void_steps, dict(void_columns)


def curve_of(node):
    """[step, loss] of node0's evaluations; a loss that is no number is None."""
    with sqlite3.connect(node / "ledger.sqlite") as ledger:
        rows = ledger.execute("SELECT step, value FROM metrics WHERE name = 'loss' ORDER BY step").fetchall()
    return [[step, loss if loss is not None and math.isfinite(loss) else None] for step, loss in rows]


def swarm(binary, out, text, attack, seed, unprotected, settings):
    byzantine = 0 if attack == "none" else BYZANTINE
    words = [binary, "swarm", "--json", "--peers", str(PEERS), "--byzantine", str(byzantine), "--attack", attack,
             "--seed", str(seed), "--data", f"text:{text}", "--evaluate-on", "validation",
             "--evaluate-every", str(EVERY), "--checkpoint-every", "0", "--out", str(out), *settings,
             *(["--unprotected"] if unprotected else [])]
    return words, json.loads(output_of(words, codes=(0, 1)))


def one_process(program, out, text, byzantine, threads=2):
    words = [program, str(out), "--data", f"text:{text}", "--evaluate-on", "validation", "--every", str(EVERY),
             "--threads", str(threads), *(["--leave-out", ",".join(byzantine)] if byzantine else [])]
    return json.loads(output_of(words))


def folder_of(folder, arm):
    return Path(folder) / arm.replace(":", "-")


def drop_all_but_what_one_reads(out):
    for path in out.iterdir():
        if path.name != "node0" and not path.name.startswith("run.toml"):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for path in (out / "node0").iterdir():
        if not path.name.startswith("ledger."):
            shutil.rmtree(path) if path.is_dir() else path.unlink()


def measure(binary, text, arm, folder, settings):
    """One arm as the dict that is its line of the results."""
    attack, seed, *rest = arm.split(":")
    unprotected = rest == ["unprotected"]
    out = folder_of(folder, arm)
    load = os.getloadavg()[0]
    words, run = swarm(binary, out, text, attack, int(seed), unprotected, settings)
    liars = set(run["byzantine"])
    row = {"arm": arm, "attack": attack, "seed": int(seed), "unprotected": unprotected, "ok": run["ok"],
           "byzantine": run["byzantine"],
           "problems": run["problems"], "parameters": run["parameters"], "steps": run["steps"],
           "loss": run["metric"]["loss"] if run["metric"] else None, "curve": curve_of(out / "node0"),
           "removals": [{"node": run["names"][gone["peer"]], "step": gone["step"], "kind": gone["kind"],
                         "reason": gone["reason"], "honest": gone["peer"] not in liars} for gone in run["removals"]],
           "returns": run["returns"], "states_equal": run["state_roots_equal"],
           "seconds": round(run["seconds"], 1),
           "seconds_per_step": {part: round(value, 4) for part, value in run["seconds_per_step"].items()},
           "peak_mib": round(run["peak_rss_bytes"] / 2**20), "bytes_sent": run["bytes_sent"],
           "load_before": round(load, 2), "load_after": round(os.getloadavg()[0], 2),
           "date": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
           "command": " ".join(["ostraka", *words[1:]])}
    if not unprotected:  # such nodes keep no blocks
        row["void_steps"], row["void_columns"] = fates_of(binary, out / "node0")
    if run["ok"]:
        drop_all_but_what_one_reads(out)
    else:
        print(f"{arm}: {'; '.join(run['problems'])}: see {out}", file=sys.stderr)
    return row


def run_arms(options):
    settings = ["--steps", str(options.steps), *MODEL, *UPDATE, *PATIENCE]
    for arm in options.arm:
        row = measure(options.binary, options.text, arm, options.folder, settings)
        with open(options.results, "a", encoding="utf-8") as results:
            results.write(json.dumps(row) + "\n")
        print(arm, "ok" if row["ok"] else row["problems"], row["loss"], file=sys.stderr, flush=True)


def rows_of(path):
    return [json.loads(line) for line in Path(path).read_text(encoding="utf-8").splitlines()]


def run_one_process(options):
    for arm in options.arm:
        rows = rows_of(options.results)
        row = next(row for row in rows if row["arm"] == arm)
        out = folder_of(options.folder, arm)
        row["one_process"] = one_process(options.program, out, options.text, row["byzantine"])
        Path(options.results).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        print(arm, row["loss"], row["one_process"]["loss"][-1], file=sys.stderr, flush=True)


def number(value, digits=4):
    return "no number" if value is None else f"{value:.{digits}f}"


def is_clean(row):
    return row["attack"] == "none" and not row["unprotected"]


def table(options):
    rows = rows_of(options.results)
    clean = {(row["seed"], row["steps"]): row["loss"] for row in rows if is_clean(row)}
    print("| attack | seed | steps | loss | less the loss without attackers | one process, same samples "
          "| banned in steps | honest removed | void steps | s a step | states equal |")
    print("|---|---|---|---|---|---|---|---|---|---|---|")
    for row in rows:
        base = clean.get((row["seed"], row["steps"]))
        less = "-" if is_clean(row) or None in (base, row["loss"]) else f"{row['loss'] - base:+.4f}"
        single = row.get("one_process")
        print(f"| {row['attack']}{', `--unprotected`' if row['unprotected'] else ''} | {row['seed']} | {row['steps']} "
              f"| {number(row['loss'])} | {less} | {number(single['loss'][-1][1]) if single else '-'} "
              f"| {', '.join(str(gone['step']) for gone in row['removals'] if not gone['honest']) or '-'} "
              f"| {sum(gone['honest'] for gone in row['removals'])} | {row.get('void_steps', '-')} "
              f"| {row['seconds_per_step']['total']:.2f} | {'yes' if row['states_equal'] else 'no'} |")


class Figure:
    """An SVG of panels side by side, each with its own scales."""
    WIDTH, HEIGHT, TOP, LEFT, GAP = 430, 330, 40, 60, 90

    def __init__(self, title, panels, legend):
        self.size = (self.LEFT + panels * (self.WIDTH + self.GAP) - 50, self.TOP + self.HEIGHT + 62 + 18 * legend)
        self.parts = [
            f'<svg xmlns="http://www.w3.org/2000/svg" role="img" width="{self.size[0]}" height="{self.size[1]}" '
            f'viewBox="0 0 {self.size[0]} {self.size[1]}" font-family="DejaVu Sans, Verdana, sans-serif" '
            'font-size="12">',
            f"<title>{title}</title>", f'<rect width="{self.size[0]}" height="{self.size[1]}" fill="#ffffff"/>']

    def text(self, x, y, words, anchor="middle", colour="#333333"):
        self.parts.append(f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" fill="{colour}">{words}</text>')

    def line(self, points, colour, width=1.0, dashes=""):
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        dashed = f' stroke-dasharray="{dashes}"' if dashes else ""
        self.parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="{width}"{dashed}/>')

    def panel(self, index, title, xs, ys, digits):
        """Draws axes, and returns the function that places (x, y), cut off at the panel's edges."""
        left = self.LEFT + index * (self.WIDTH + self.GAP)
        bottom = self.TOP + self.HEIGHT

        def place(x, y):
            y = min(max(y, ys[0]), ys[-1])
            return (left + (x - xs[0]) / (xs[-1] - xs[0]) * self.WIDTH,
                    bottom - (y - ys[0]) / (ys[-1] - ys[0]) * self.HEIGHT)

        self.text(left + self.WIDTH / 2, self.TOP - 16, title)
        for y in ys:
            self.line([place(xs[0], y), place(xs[-1], y)], "#dddddd")
            self.text(left - 8, place(xs[0], y)[1] + 4, f"{y:.{digits}f}", "end")
        for x in xs:
            self.line([place(x, ys[0]), (place(x, ys[0])[0], bottom + 5)], "#666666")
            self.text(place(x, ys[0])[0], bottom + 20, x)
        self.text(left + self.WIDTH / 2, bottom + 38, "steps")
        return place

    def write(self, path):
        Path(path).write_text("\n".join([*self.parts, "</svg>", ""]), encoding="utf-8")


def plot(options):
    """Left the losses, right their distance from those without attackers; of runs of STEPS."""
    rows = [row for row in rows_of(options.results) if f"--steps {STEPS} " in row["command"]]
    clean = {row["seed"]: dict(row["curve"]) for row in rows if is_clean(row)}
    figure = Figure("validation loss of a gpt under attack, against steps", 2, (len(rows) + 2) // 3)
    left = figure.panel(0, "validation loss, nats a byte", range(0, STEPS + 1, 50), [2, 2.5, 3, 3.5, 4, 4.5, 5, 5.5], 1)
    ticks = [-0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6]
    right = figure.panel(1, "less the loss without attackers", range(0, STEPS + 1, 50), ticks, 1)
    for limit in (-0.1, 0.1):
        figure.line([right(0, limit), right(STEPS, limit)], "#999999", 1, "2 3")
    for index, row in enumerate(rows):
        style = (COLOURS[row["attack"]], 1.6 if row["seed"] == 0 else 1.0, "7 4" if row["unprotected"] else "")
        points = [(step + 1, loss) for step, loss in row["curve"] if loss is not None and step < STEPS]
        figure.line([left(*point) for point in points], *style)
        base = clean.get(row["seed"], {})
        if not is_clean(row):
            figure.line([right(step, loss - base[step - 1]) for step, loss in points if step - 1 in base], *style)
        x = figure.LEFT + index % 3 * 310
        y = figure.TOP + figure.HEIGHT + 64 + index // 3 * 18
        figure.line([(x, y), (x + 30, y)], *style)
        plain = ", unprotected" if row["unprotected"] else ""
        figure.text(x + 38, y + 4, f"{row['attack']}, seed {row['seed']}{plain}", "start")
    figure.write(options.svg)


def smoke(options):
    """Without attackers CenteredClip is nearly the mean: a run must learn as one process does, and not stand still.

    The losses begin alike; while they fall fast, their ends differ by up to 0.1.
    """
    words = random.Random(1).choices(["to be ", "or not ", "that is ", "the question "], k=20000)
    settings = ["--steps", "60", "--model", "gpt", "--layers", "1", "--width", "16", "--heads", "2", "--context", "16",
                "--batch-size", "4", "--optimizer", "adamw", "--learning-rate", "0.01"]
    with tempfile.TemporaryDirectory(prefix="gpt-under-attack-") as folder:
        text = Path(folder) / "text"
        text.write_text("".join(words), encoding="utf-8")
        row = measure(options.binary, text, "none:0", folder, settings)
        if not row["ok"]:
            sys.exit(1)
        alone = one_process(options.program, folder_of(folder, "none:0"), text, [])
    ours, single = row["curve"], alone["loss"]
    if [step for step, _ in ours] != [step for step, _ in single]:
        sys.exit(f"evaluated after steps {ours} and {single}")
    if alone["gradients"] < (PEERS - 1) * row["steps"]:
        sys.exit(f"one process computed {alone['gradients']} gradients")
    words = (f"loss {ours[0][1]:.3f} to {ours[-1][1]:.3f} of the swarm, "
             f"{single[0][1]:.3f} to {single[-1][1]:.3f} in one process")
    if abs(ours[0][1] - single[0][1]) > 0.02 or abs(ours[-1][1] - single[-1][1]) > 0.3 or ours[-1][1] > ours[0][1] - 1:
        sys.exit(words)
    print(words)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    commands = parser.add_subparsers(required=True)
    for name, body, words in (("run", run_arms, "binary text folder results"),
                              ("one", run_one_process, "program text folder results"), ("table", table, "results"),
                              ("plot", plot, "results svg"), ("smoke", smoke, "binary program")):
        command = commands.add_parser(name)
        command.set_defaults(body=body)
        for word in words.split():
            command.add_argument(word)
        if name in ("run", "one"):
            command.add_argument("arm", nargs="+")
        if name == "run":
            command.add_argument("--steps", type=int, default=STEPS)
    options = parser.parse_args()
    options.body(options)


if __name__ == "__main__":
    main()
