"""What a worker sends of a step with local steps is proven false, and not proven false, by both verifiers to the bit: with each
schedule, clipped, and over several batches."""
import unittest

from harness import TestCase
from model_proof import LIARS, SMALL, ModelProof, OfGraph, OnBook, liars

CODED_LIARS = liars("sign_flip")  # codes round a flipped bit away


class GptTest(OfGraph, OnBook, TestCase):
    """The defaults: nesterov and a cosine; two micro-batches a gradient."""

    @classmethod
    def model(cls):
        return ["--model", "gpt", *SMALL, "--context", 12, "--batch-size", 4, "--inner-steps", 5]


class MlpTest(ModelProof, TestCase):
    """A rate that decays, after an update without momentum; parts and results in codes; three batches a gradient."""

    SWARM = [*CODED_LIARS, "--hidden", 8, "--inner-steps", 2, "--inner-rate", 0.05, "--optimizer", "sgd", "--schedule", "wsd", "--warmup", 20,
             "--part-codec", "i4", "--result-codec", "i16", "--batches", 3]


class SoftmaxTest(ModelProof, TestCase):
    """Gradients in codes, without local steps; one batch in the first step, then two."""

    SWARM = [*CODED_LIARS, "--model", "softmax", "--part-codec", "i8", "--result-codec", "i16",
             "--most-batches", 2]


if __name__ == "__main__":
    unittest.main()
