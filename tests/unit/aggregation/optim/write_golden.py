#!/usr/bin/env python3
"""Writes tests/vectors/optimizers.json: what torch.optim computes in float64, for golden_test.cpp.

usage: write_golden.py OUT   (with a Python that has torch; the tests themselves need none)
"""
import json
import sys

import torch

SIZE, STEPS = 13, 40
CASES = {
    "sgd": dict(optimizer="sgd", rate=0.05, momentum=0.9),
    "nesterov": dict(optimizer="nesterov", rate=0.05, momentum=0.9),
    "adamw": dict(optimizer="adamw", rate=0.01, decay=0.1, beta1=0.9, beta2=0.95, epsilon=1e-8),
    "adamw_long": dict(optimizer="adamw", rate=0.003, decay=0.0, beta1=0.9, beta2=0.999, epsilon=1e-6),
    "adamw_clipped": dict(optimizer="adamw", rate=0.01, decay=0.05, beta1=0.8, beta2=0.95, epsilon=1e-8, clip_norm=0.75),
}


def made(case, x):
    if case["optimizer"] == "adamw":
        return torch.optim.AdamW([x], lr=case["rate"], betas=(case["beta1"], case["beta2"]), eps=case["epsilon"],
                                 weight_decay=case["decay"])
    return torch.optim.SGD([x], lr=case["rate"], momentum=case["momentum"], nesterov=case["optimizer"] == "nesterov")


def run(case, start, gradients):
    x = start.clone().requires_grad_()
    optimizer = made(case, x)
    for gradient in gradients:
        x.grad = gradient.clone()
        clip, norm = case.get("clip_norm", 0), gradient.norm()
        if clip and norm > clip:
            x.grad *= clip / norm
        optimizer.step()
    return x.detach().tolist()


def cosine(steps):
    x = torch.zeros(1, requires_grad=True)
    optimizer = torch.optim.SGD([x], lr=1.0)
    schedule = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, steps)
    rates = []
    for _ in range(steps):
        rates.append(schedule.get_last_lr()[0])
        optimizer.step()
        schedule.step()
    return rates


def main():
    torch.manual_seed(25)
    start = torch.randn(SIZE).double()
    gradients = torch.randn(STEPS, SIZE)
    gradients[:, 3] *= 1e-4  # a coordinate that is nearly flat
    gradients[5:, 7] = 0     # one that falls silent
    gradients = gradients.double()
    out = {"torch": torch.__version__.split("+")[0], "start": start.tolist(), "gradients": gradients.tolist(), "cosine": cosine(97),
           "cases": {name: dict(case, after=run(case, start, gradients)) for name, case in CASES.items()}}
    with open(sys.argv[1], "w", encoding="utf-8") as file:
        json.dump(out, file, indent=1)
        file.write("\n")


main()
