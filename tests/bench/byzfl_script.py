#!/usr/bin/env python3
"""The examples of ByzFL's README beside the same scripts moved over by docs/from-byzfl.md, in one run.

usage: PYTHONPATH=build/release/python byzfl_script.py FOLDER [--steps 200] [--threads 2]

FOLDER has MNIST as torchvision wants it: FOLDER/MNIST/raw/train-images-idx3-ubyte and so on. Needs byzfl,
torch and torchvision; seaborn, which only its plots use, may be missing.

The quick start: both results are printed. The training example: ByzFL's own clients and server train
twice from equal seeds. The first time ByzFL attacks and aggregates, the second time ours do, in place of
its ByzantineClient and RobustAggregator; everything else is equal, batches included. Two names of the
README's script are those of ByzFL 0.0.11 here: clients are given store_per_client_metrics, and
update_model is update_model_with_gradients.
"""
import argparse
import sys
import time
import types

import numpy as np
import torch
from torch.utils.data import DataLoader

import ostraka

sys.modules.setdefault("seaborn", types.ModuleType("seaborn"))
import byzfl  # noqa: E402
from byzfl.utils.misc import set_random_seed  # noqa: E402
from torchvision import datasets, transforms  # noqa: E402

F, HONEST, SEED, BATCH = 1, 3, 42, 25


def quick_start():
    honest = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0], [7.0, 8.0, 9.0]])
    bad = np.tile(byzfl.SignFlipping()(honest), (F, 1))
    theirs = byzfl.TrMean(f=F)(np.concatenate((honest, bad)))
    honest = honest.astype("float32")
    bad = ostraka.attacks.sign_flip(honest, byzantine=F, lambda_=1.0)
    ours = ostraka.rules.trimmed_mean(np.concatenate((honest, bad)), f=F)
    print(f"quick start: ByzFL {theirs}, ours {ours}")
    np.testing.assert_array_equal(theirs, ours)


class Theirs:
    def __init__(self):
        self.attacker = byzfl.ByzantineClient(
            {"name": "InnerProductManipulation", "f": F, "parameters": {"tau": 3.0}})
        self.rule = byzfl.RobustAggregator(
            {"name": "TrMean", "parameters": {"f": F}},
            [{"name": "Clipping", "parameters": {"c": 2.0}},
             {"name": "NNM", "parameters": {"f": F}}]).aggregate_vectors

    def attack(self, honest):
        return self.attacker.apply_attack(honest)


class Ours:
    def __init__(self, threads):
        self.threads = threads
        pipeline = ostraka.Pipeline("trimmed_mean", f=F, pre=["clipping:c=2", "nnm"])
        self.rule = lambda rows: pipeline(rows, threads=threads)

    def attack(self, honest):
        return list(ostraka.attacks.ipm(honest, byzantine=F, eps=3.0, threads=self.threads))


def train(folder, way, steps):
    """The README's loop. Returns accuracies, seconds of attack and rule, and each step's aggregate."""
    set_random_seed(SEED)
    transform = transforms.Compose(
        [transforms.ToTensor(), transforms.Normalize((0.1307,), (0.3081,))])
    train_set = datasets.MNIST(root=folder, train=True, transform=transform)
    loaders = byzfl.DataDistributor({
        "data_distribution_name": "dirichlet_niid", "distribution_parameter": 0.5,
        "nb_honest": HONEST, "data_loader": DataLoader(train_set, shuffle=True),
        "batch_size": BATCH}).split_data()
    clients = [byzfl.Client({
        "model_name": "cnn_mnist", "device": "cpu", "loss_name": "NLLLoss", "LabelFlipping": False,
        "training_dataloader": loaders[i], "momentum": 0.9, "nb_labels": 10,
        "store_per_client_metrics": False}) for i in range(HONEST)]
    test_set = datasets.MNIST(root=folder, train=False, transform=transform)
    server = byzfl.Server({
        "device": "cpu", "model_name": "cnn_mnist",
        "test_loader": DataLoader(test_set, batch_size=BATCH, shuffle=False),
        "optimizer_name": "SGD", "learning_rate": 0.1, "weight_decay": 0.0001,
        "milestones": [1000], "learning_rate_decay": 0.25,
        "aggregator_info": {"name": "TrMean", "parameters": {"f": F}},
        "pre_agg_list": [{"name": "Clipping", "parameters": {"c": 2.0}},
                         {"name": "NNM", "parameters": {"f": F}}]})
    accuracies, results, seconds = [], [], 0.0

    def aggregate(gradients):
        nonlocal seconds
        begin = time.perf_counter()
        result = way.rule(gradients)
        seconds += time.perf_counter() - begin
        results.append(result.clone())
        return result

    server.aggregate = aggregate
    for step in range(steps + 1):
        model = server.get_dict_parameters()
        for client in clients:
            client.set_model_state(model)
        if step % 100 == 0:
            accuracies.append(round(server.compute_test_accuracy(), 4))
        for client in clients:
            client.compute_gradients()
        honest = [client.get_flat_gradients_with_momentum() for client in clients]
        begin = time.perf_counter()
        bad = way.attack(honest)
        seconds += time.perf_counter() - begin
        server.update_model_with_gradients(honest + bad)
    return accuracies, seconds, results


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder")
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--threads", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    quick_start()
    aggregates = {}
    for name, way in (("ByzFL", Theirs()), ("ours", Ours(options.threads))):
        begin = time.perf_counter()
        accuracies, seconds, aggregates[name] = train(options.folder, way, options.steps)
        steps = options.steps + 1
        print(f"{name}: d = {len(aggregates[name][0])}, accuracy every 100 steps {accuracies}; "
              f"attack and rule {1000 * seconds / steps:.2f} ms a step, "
              f"all {time.perf_counter() - begin:.1f} s for {steps} steps", flush=True)
    theirs, ours = aggregates.values()
    gaps = [float((a - b).abs().max() / a.abs().max()) for a, b in zip(theirs, ours)]
    print(f"aggregates differ by {gaps[0]:.1e} of the largest coordinate in the first step, "
          f"{gaps[-1]:.1e} in the last")


if __name__ == "__main__":
    main()
