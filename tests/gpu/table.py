#!/usr/bin/env python3
"""What run.sh measured, as one JSON object and one table. usage: table.py LINES FOLDER"""
import json
import pathlib
import sys

WRONG = ("flush", "divide", "round", "fast-relaxed", "denorms-are-zero")


def read(path):
    """The lines of JSON; a swarm's report is one object without "what"."""
    results = []
    for line in pathlib.Path(path).read_text().splitlines():
        if line.startswith("{"):
            each = json.loads(line)
            results.append(each if "what" in each else {"what": "swarm", **each})
    return results


def said(value):
    return "yes" if value else "NO"


def rows_of(results):
    """(what, by, result) of each; wanted differences are told as such."""
    cublas = {(each["rows"], each["columns"], each["depth"]): each["tflops"] for each in results if each["what"] == "cublas"}
    eager = next((each["seconds"] for each in results if each["what"] == "torch" and each["type"] == "float32"), None)
    for each in results:
        what, by = each["what"], each.get("device", "")
        wrong = any(word in by for word in WRONG)
        if what == "digest":
            yield f"digest of {each['name']}", by, "equal" if each["same"] else "DIFFERS"
        elif what == "cases":
            yield f"{each['cases']} drawn cases, {each['numbers']} numbers", by, f"{each['differ']} differ {each['first']}"
        elif what == "conformance":
            told = "equal" if each["same"] else f"differs: {each['why']}"
            yield "must differ: conformance program" if wrong else "conformance program", by, told
        elif what == "product":
            size = each["rows"], each["columns"], each["depth"]
            share = f", {each['tflops'] / cublas[size]:.2f} of cuBLAS float32" if size in cublas else ""
            yield f"product {size[0]} x {size[1]} x {size[2]}", by, f"{each['tflops']:.2f} TFLOP/s{share}"
        elif what == "gpt":
            is_small = each["batch"] == 8 and each["context"] == 1024
            ratio = f", {each['seconds'] / eager:.2f} of PyTorch float32 eager" if eager and is_small else ""
            yield (f"gradient of a gpt of {each['parameters']} parameters, {each['batch']} x {each['context']} tokens", by,
                   f"{each['seconds'] * 1e3:.1f} ms, {each['tflops']:.2f} TFLOP/s, digest {each['digest']}{ratio}")
        elif what == "local step":
            yield (f"local step of a gpt of {each['parameters']} parameters, {each['batch']} x {each['context']} tokens", by,
                   f"{each['seconds'] * 1e3:.1f} ms; {each['by_processor'] * 1e3:.1f} ms where the processor takes it; equal: {said(each['same'])}")
        elif what == "torch":
            yield f"PyTorch {each['version']} eager, the same gpt, {each['type']}", each["device"], f"{each['seconds'] * 1e3:.1f} ms"
        elif what == "swarm":
            yield ("swarm of processors and a GPU", "",
                   f"ok: {said(each['ok'])}; equal states: {said(each['state_roots_equal'])}; "
                   f"attackers removed: {len(each['removals'])} of {len(each['byzantine'])}")
        elif what == "failed":
            yield "FAILED", each["step"], f"exit code {each['code']}"


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    results = read(sys.argv[1])
    folder = pathlib.Path(sys.argv[2])
    machine = next((each for each in results if each["what"] == "machine"), {})
    (folder / "gpu.json").write_text(json.dumps({"machine": machine, "results": results}, indent=1) + "\n")
    table = [f"{machine.get('card') or 'no card'}, {machine.get('date')}", "", "| what | by | result |", "|---|---|---|"]
    table += [f"| {what} | {by} | {result} |" for what, by, result in rows_of(results)]
    text = "\n".join(table) + "\n"
    (folder / "gpu.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
