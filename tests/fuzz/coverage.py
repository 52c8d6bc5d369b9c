#!/usr/bin/env python3
"""Which share of the decoders' lines the fuzzers' committed corpora run.

`make coverage` builds and runs it. Prints a table, and the lines that did not run; exit code 1 if a file
of DECODERS is below 90 %.
"""
import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LEAST = 90.0
# Target -> the files whose lines it has to reach: whatever reads bytes of a peer, a file or a user.
DECODERS = {
    "envelope": ["node/wire/envelope.cpp", "node/wire/slot_codec.cpp"],
    "bodies": ["node/wire/bodies.cpp", "node/wire/body_codec.h", "node/wire/canonical.cpp",
               "node/wire/case_codec.cpp", "node/wire/proof_body.cpp", "node/wire/seal_bodies.cpp",
               "node/wire/service_bodies.cpp"],
    "block": ["node/wire/block_codec.cpp", "node/wire/aggregated_codec.cpp"],
    "evidence": ["node/wire/evidence_codec.cpp", "proofs/evidence/evidence.cpp",
                 "proofs/evidence/kinds.cpp"],
    "key_file": ["crypto/key_file.cpp"],
    "manifest": ["node/config/manifest_toml.cpp"],
    "npy": ["node/base/npy.cpp"],
    "data_files": ["node/train/cifar10.cpp", "node/train/gzip.cpp", "node/train/idx.cpp"],
    "weights": ["node/store/weights_file.cpp"],
    "tokenizer": ["node/train/tokens/tokenizer_json.cpp", "node/train/tokens/tokenizer.cpp",
                  "node/train/tokens/split_words.cpp"],
    "encode": ["node/train/tokens/byte_pairs.cpp", "node/train/tokens/nfc.cpp", "node/train/tokens/token_finder.cpp",
               "node/train/tokens/unicode.cpp"],
    "channel": ["node/net/records/hello.cpp", "node/net/records/blob_receiver.cpp",
                "node/net/records/receive_credit.h", "node/net/records/send_queue.cpp"],
    "dial_back": ["node/net/records/dial_back.cpp"],
    "client_hello": ["node/net/link/client_hello.cpp"],
    "dht_datagram": ["dht/wire/messages.cpp", "dht/wire/announcement.cpp", "dht/wire/fields.h"],
    "dht_node": ["dht/node.cpp", "dht/answerer.cpp", "dht/requests.cpp"],
    "machine": ["node/protocol/mail/inbox.cpp", "node/protocol/member/gate.cpp",
                "node/protocol/member/answers.cpp", "node/protocol/sync/catch_up.cpp",
                "node/protocol/seal/seal_vector.cpp"],
}


def run(*words, **options):
    return subprocess.run([str(word) for word in words], check=True, **options)


def profile(program, corpus, folder):
    """Replays the corpus; the merged counts of the run."""
    raw, merged = folder / f"{program.name}.raw", folder / f"{program.name}.profile"
    run(program, corpus, cwd=ROOT, stdout=subprocess.DEVNULL,
        env={**os.environ, "LLVM_PROFILE_FILE": str(raw)})
    run("llvm-profdata", "merge", "-o", merged, raw)
    return merged


def lines_of(program, profile_path, sources):
    """source -> (lines that can run, those that did not), as llvm-cov counts lines."""
    out = run("llvm-cov", "export", "-format=lcov", f"-instr-profile={profile_path}", program,
              *(ROOT / source for source in sources), stdout=subprocess.PIPE, text=True).stdout
    found, source = {}, None
    for line in out.splitlines():
        if line.startswith("SF:"):
            source = str(Path(line[3:]).resolve().relative_to(ROOT))
            found[source] = (set(), set())
        elif line.startswith("DA:"):
            number, count = line[3:].split(",")[:2]
            found[source][0].add(int(number))
            if int(count) == 0:
                found[source][1].add(int(number))
    return found


def ranges(numbers):
    """3 4 5 9 as "3-5 9"."""
    shown = []
    for number in sorted(numbers):
        if shown and shown[-1][1] == number - 1:
            shown[-1][1] = number
        else:
            shown.append([number, number])
    return " ".join(str(a) if a == b else f"{a}-{b}" for a, b in shown)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("build", type=Path, help="build folder of the preset `coverage`, with `fuzzers` built")
    parser.add_argument("targets", nargs="*", choices=[[], *DECODERS], help="only these")
    parser.add_argument("--corpora", type=Path, default=ROOT / "tests/fuzz/corpus",
                        help="a folder of inputs for each target; default tests/fuzz/corpus")
    options = parser.parse_args()
    build, corpora = options.build.resolve(), options.corpora.resolve()
    targets = options.targets or list(DECODERS)
    programs = {path.name.removesuffix("_fuzz"): path for path in build.glob("tests/**/*_fuzz")
                if path.is_file()}
    missing = sorted(set(targets) - set(programs))
    if missing:
        sys.exit(f"{build} has no program for {', '.join(missing)}: build the target `fuzzers`")
    low, not_run = [], []
    print("| fuzzer | file | lines | run by the corpus | % |\n|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(prefix="ostraka-coverage-") as folder:
        for target in targets:
            sources = DECODERS[target]
            counts = lines_of(programs[target],
                              profile(programs[target], corpora / target, Path(folder)), sources)
            for source in sources:
                lines, missed = counts[source]
                percent = 100.0 * (len(lines) - len(missed)) / len(lines)
                print(f"| {target} | {source} | {len(lines)} | {len(lines) - len(missed)} | "
                      f"{percent:.1f} |", flush=True)
                not_run += [f"{source}: {ranges(missed)}"] if missed else []
                low += [source] if percent < LEAST else []
    print("\nnot run:", *not_run, sep="\n  ")
    if low:
        sys.exit(f"below {LEAST:.0f} %: {', '.join(low)}")


if __name__ == "__main__":
    main()
