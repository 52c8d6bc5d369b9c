"""Cells an hour: ByzFL's benchmark runner beside `ostraka compare`, on one grid.

    python3 tests/bench/byzfl_runner.py OSTRAKA FOLDER

needs a Python that imports byzfl, torch and torchvision (seaborn is for plots only and may be
missing). FOLDER gets the embedded digits as 28 x 28 images in MNIST's format, both runners' grids
and their results. Both run two cells at a time, one thread each; a logistic regression, 10 workers,
2 Byzantine, 200 steps of batch 25, {trimmed mean, median} after NNM, {sign flip, ALIE}.
"""
import csv
import json
import os
import struct
import subprocess
import sys
import time
import types
from pathlib import Path

import numpy as np

DIGITS = Path(__file__).resolve().parents[2] / "node" / "train" / "data" / "digits.csv"
TRAINING_ROWS = 1440
JOBS = 2
BYZFL_SEEDS = 2   # 8 cells
OSTRAKA_SEEDS = 20  # 80 cells: enough for its start not to count

BYZFL = {
    "benchmark_config": {
        "training_algorithm": {"name": "DSGD", "parameters": {}}, "nb_steps": 200, "device": "cpu",
        "training_seed": 0, "nb_training_seeds": BYZFL_SEEDS, "nb_honest_clients": 8, "f": [2],
        "data_distribution_seed": 0, "nb_data_distribution_seeds": 1, "size_train_set": 0.9,
        "data_distribution": [{"name": "gamma_similarity_niid", "distribution_parameter": [1.0]}]},
    "model": {"name": "logreg_mnist", "dataset_name": "mnist", "nb_labels": 10, "loss": "NLLLoss",
              "learning_rate": 0.1, "learning_rate_decay": 1.0, "milestones": []},
    "aggregator": [{"name": "TrMean", "parameters": {}}, {"name": "Median", "parameters": {}}],
    "pre_aggregators": [{"name": "NNM", "parameters": {}}],
    "honest_clients": {"momentum": 0.9, "weight_decay": 0.0001, "batch_size": 25},
    "attack": [{"name": "SignFlipping", "parameters": {}},
               {"name": "ALittleIsEnough", "parameters": {}}],
    "evaluation_and_results": {
        "evaluation_delta": 50, "batch_size_evaluation": 128, "evaluate_on_test": True,
        "store_per_client_metrics": False, "store_models": False, "data_folder": "./data",
        "results_directory": "./results"}}
OSTRAKA = """name = "beside ByzFL"
data = "mnist:data/MNIST/raw"
model = "softmax"
peers = 10
byzantine = 2
partition = "gamma:similarity=1"
rules = ["trimmed_mean+nnm", "median+nnm"]
attacks = ["sign_flip:lambda=1", "alie"]
seeds = "0..{last}"
steps = 200
batch_size = 25
evaluate_every = 50
learning_rate = 0.1
schedule = "constant"
worker_momentum = 0.9
weight_decay = 0.0001
"""


def write_images(folder, name, images, labels):
    (folder / f"{name}-images-idx3-ubyte").write_bytes(
        struct.pack(">IIII", 0x803, len(images), 28, 28) + images.tobytes())
    (folder / f"{name}-labels-idx1-ubyte").write_bytes(
        struct.pack(">II", 0x801, len(labels)) + labels.astype(np.uint8).tobytes())


def write_data(folder):
    folder.mkdir(parents=True, exist_ok=True)
    with DIGITS.open() as file:
        rows = np.array([[int(value) for value in row] for row in csv.reader(file)])
    images = rows[:, :64].reshape(-1, 8, 8) * 255 // 16
    images = np.pad(np.kron(images, np.ones((1, 3, 3), dtype=int)), ((0, 0), (2, 2), (2, 2)))
    images = images.astype(np.uint8)
    write_images(folder, "train", images[:TRAINING_ROWS], rows[:TRAINING_ROWS, 64])
    write_images(folder, "t10k", images[TRAINING_ROWS:], rows[TRAINING_ROWS:, 64])


def time_byzfl():
    import torch
    try:
        import seaborn  # noqa: F401
    except ImportError:
        sys.modules["seaborn"] = types.ModuleType("seaborn")
    from byzfl.benchmark import run_benchmark
    torch.set_num_threads(1)
    Path("config.json").write_text(json.dumps(BYZFL))
    begin = time.monotonic()
    run_benchmark(JOBS)
    return time.monotonic() - begin


def time_ostraka(ostraka):
    Path("grid.toml").write_text(OSTRAKA.format(last=OSTRAKA_SEEDS - 1))
    begin = time.monotonic()
    subprocess.run([ostraka, "compare", "grid.toml", "--out", "out", "--jobs", str(JOBS)],
                   check=True, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    return time.monotonic() - begin


def main():
    ostraka, folder = Path(sys.argv[1]).resolve(), Path(sys.argv[2])
    folder.mkdir(parents=True)
    write_data(folder / "data" / "MNIST" / "raw")
    os.chdir(folder)
    os.environ["OMP_NUM_THREADS"] = "1"
    for name, cells, run in (("ostraka", 4 * OSTRAKA_SEEDS, lambda: time_ostraka(ostraka)),
                             ("byzfl", 4 * BYZFL_SEEDS, time_byzfl)):
        seconds = run()
        print(f"{name}: {cells} cells in {seconds:.1f} s, {3600 * cells / seconds:.0f} an hour",
              flush=True)


if __name__ == "__main__":
    main()
