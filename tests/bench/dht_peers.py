#!/usr/bin/env python3
"""The DHT beside hivemind's: stores and gets on loopback, as many nodes on each side, in one run.

usage: dht_peers.py [--ostraka build/release/ostraka] [--nodes 12] [--questions 100] [--json FILE]

hivemind comes from the Python registry, and needs torch:
    python3 -m venv --system-site-packages peers && peers/bin/pip install hivemind
    peers/bin/python tests/bench/dht_peers.py
Without it our side is measured alone, and the program says so.

Both sides ask one question at a time. A record is stored by one node and looked for by another that
has not met it; each side keeps its own defaults (ours: signed records and replies, disjoint paths;
hivemind's: caches, no signatures on DHT records). Our nodes share one process, and each of
hivemind's is a process with a daemon of its own, so its times include its local calls.
"""
import argparse
import json
import random
import statistics
import subprocess
import sys
import time


def ours(binary, nodes, questions):
    words = [binary, "dht", "bench", "--json", "--nodes", str(nodes), "--questions", str(questions)]
    done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(words)}: exit {done.returncode}: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    return {"found": result["found"], "questions": questions, "get_ms": result["get_ms"], "store_ms": result["store_ms"]}


def timed(call):
    begin = time.perf_counter()
    answer = call()
    return answer, 1e3 * (time.perf_counter() - begin)


def theirs(nodes, questions):
    try:
        import hivemind
    except ImportError as error:
        print(f"hivemind is left out: {error}", file=sys.stderr)
        return None
    rng = random.Random(1)
    peers = []
    try:
        for _ in range(nodes):
            known = rng.choice(peers).get_visible_maddrs() if peers else []
            peers.append(hivemind.DHT(initial_peers=known, host_maddrs=["/ip4/127.0.0.1/tcp/0"], start=True))
        gets, stores, found = [], [], 0
        for question in range(questions):
            writer, reader = rng.sample(peers, 2)
            key = f"key {question}"
            until = hivemind.utils.get_dht_time() + 600
            stored, took = timed(lambda: writer.store(key, question, expiration_time=until))
            if not stored:
                sys.exit(f"hivemind stored nothing for {key}")
            stores.append(took)
            answer, took = timed(lambda: reader.get(key))
            gets.append(took)
            found += answer is not None and answer.value == question
    finally:
        for peer in peers:
            peer.shutdown()
    return {"found": found, "questions": questions, "get_ms": statistics.mean(gets), "store_ms": statistics.mean(stores)}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ostraka", default="build/release/ostraka")
    parser.add_argument("--nodes", type=int, default=12)
    parser.add_argument("--questions", type=int, default=100)
    parser.add_argument("--json")
    options = parser.parse_args()
    sides = {"ostraka": ours(options.ostraka, options.nodes, options.questions)}
    peer = theirs(options.nodes, options.questions)
    if peer:
        sides["hivemind"] = peer
    print(f"| {options.nodes} nodes | found | get, ms | store, ms |\n|---|---|---|---|")
    for name, side in sides.items():
        print(f"| {name} | {side['found']} of {side['questions']} | {side['get_ms']:.2f} | {side['store_ms']:.2f} |")
    if options.json:
        with open(options.json, "w") as out:
            json.dump({"nodes": options.nodes, "sides": sides}, out)


if __name__ == "__main__":
    main()
