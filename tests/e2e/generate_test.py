"""The model of a run continues a text."""
import json
import re
import shutil
import tempfile
from pathlib import Path

import golden_tokenizers
import harness
from harness import TestCase, expect_ok, run

SENTENCE = "Nobody vouches for anybody here. "
GPT = ["--model", "gpt", "--layers", 1, "--width", 32, "--heads", 2, "--context", 40, "--batch-size", 8]


class GenerateTest(TestCase):
    @classmethod
    def setUpClass(cls):
        cls.trained = tempfile.TemporaryDirectory()
        cls.addClassCleanup(cls.trained.cleanup)
        text = Path(cls.trained.name) / "text"
        text.write_text(SENTENCE * 300)
        expect_ok("swarm", "--out", Path(cls.trained.name) / "out", "--peers", 3, "--byzantine", 0, "--steps", 160, *GPT,
                  "--data", f"text:{text}", "--optimizer", "adamw", "--learning-rate", 0.02)

    def setUp(self):
        super().setUp()
        self.out = self.folder / "out"
        shutil.copytree(Path(self.trained.name) / "out", self.out)
        self.node = self.out / "node1"

    def test_it_has_learned_its_text(self):
        said = expect_ok("generate", self.node, "Nobody vou", "--temperature", 0, "--tokens", 60, "--seed", 1)
        self.assertEqual(said, (SENTENCE * 3)[:70] + "\n")
        drawn = [expect_ok("generate", self.node, "Nobody ", "--temperature", 5, "--seed", seed) for seed in (1, 1, 2)]
        self.assertEqual(drawn[0], drawn[1])
        self.assertNotEqual(drawn[0], drawn[2])
        self.assertNotIn("\x1b", drawn[0])  # at this temperature all bytes come
        spoken = json.loads(expect_ok("generate", self.node, "Nobody", "--tokens", 5, "--json"))
        self.assertEqual((spoken["prompt"], spoken["tokens"]), ("Nobody", 5))
        again = run("generate", self.node, "--tokens", 20)
        self.assertRegex(again.stderr, r"\Aagain: --seed \d+\n\Z")
        seed = again.stderr.split()[-1]
        self.assertEqual(expect_ok("generate", self.node, "--tokens", 20, "--seed", seed), again.stdout)

    def test_nodes_show_what_the_model_writes(self):
        text = self.folder / "text"
        text.write_text(SENTENCE * 300)
        made = self.make_run(count=3, steps=3000, model="gpt", options=[*GPT[2:], "--data", f"text:{text}"])
        nodes = [self.running(made.start(i, "--data", f"text:{text}", *(["--sample", 0] if i == 2 else []))) for i in range(3)]
        # An evaluation that gives way to a gradient at once, as on a busy machine, has none.
        sample = next(event["sample"] for event in iter(lambda: nodes[0].wait_for_event(event="evaluation"), None) if "sample" in event)
        self.assertEqual(set(sample), {"prompt", "text"})
        self.assertIn(sample["prompt"], SENTENCE * 2)
        self.assertFalse([c for c in sample["text"] if (c < " " or "\x7f" <= c < "\xa0") and c not in "\n\t"], sample)
        self.assertNotIn("sample", nodes[2].wait_for_event(event="evaluation"))
        for node in nodes:
            harness.drain(node)
        status = lambda *options: expect_ok("status", made.data_dir(0), *options)
        harness.wait_until(lambda: "sample" in json.loads(status("--json")), "a sample in the status")
        self.assertIn(json.loads(status("--json"))["sample"]["prompt"], SENTENCE * 2)
        harness.wait_until(lambda: re.search(r'(?m)^writes  "', status()), "a sample in the status for people")
        self.assertNotIn("sample", json.loads(expect_ok("status", made.data_dir(2), "--json")))

    def test_what_cannot_speak_is_refused_in_one_line(self):
        graph = self.out / "run.toml.graph"
        moved = self.folder / "moved.graph"
        shutil.move(graph, moved)
        self.refused(2, ["generate", self.node, "a"], "no graph file of graph@", "name it with --graph")
        self.assertTrue(expect_ok("generate", self.node, "a", "--graph", moved, "--tokens", 1))
        moved.write_text(moved.read_text().replace("ones", "zeros", 1))
        self.refused(2, ["generate", self.node, "a", "--graph", moved], "moved.graph")
        self.refused(3, ["generate", self.folder / "none", "a"], "holds no state yet")
        self.refused(3, ["generate", self.node, "a", "--step", 3], "holds no state of step 3")
        self.refused(2, ["generate", self.node, "a", "--top-p", 0], "--top-p")
        self.refused(2, ["generate", self.node, "a", "--tokens", 0], "--tokens")
        images = self.folder / "images"
        expect_ok("swarm", "--out", images, "--peers", 3, "--byzantine", 0, "--steps", 8, "--model", "softmax")
        self.refused(2, ["generate", images / "node0", "a"], "model softmax continues no text")

    def test_a_model_that_sees_its_targets_is_refused(self):
        (self.folder / "text").write_text(SENTENCE * 300)
        graph = self.folder / "leak.graph"
        expect_ok("model", "make", "gpt", "--layers", 1, "--width", 8, "--heads", 1, "--context", 16, "--batch", 2, "--out", graph)
        graph.write_text(graph.read_text().replace("causal=1", "causal=0"))
        options = ["--model", f"graph:{graph}", "--data", f"text:{self.folder / 'text'}"]
        self.refused(2, ["swarm", "--peers", 3, "--byzantine", 0, *options], "the model sees the tokens that it is to predict")
        members = [expect_ok("key", "new", self.folder / f"{name}.key", "--no-passphrase").strip() for name in "abc"]
        named = [word for i, member in enumerate(members) for word in ("--member", f"{member}@127.0.0.1:{7001 + i}")]
        self.refused(2, ["run", "init", *named, "--out", self.folder / "run.toml", *options],
                     "the model sees the tokens that it is to predict", "causal mask")

    def test_a_model_of_wide_tokens_speaks_by_their_tokenizer(self):
        (self.folder / "text").write_text(SENTENCE * 300)
        tokenizer = self.folder / "tokenizer.json"
        small, other = golden_tokenizers.cases()[0]["tokenizer"], golden_tokenizers.cases()[2]["tokenizer"]
        tokenizer.write_text(json.dumps(small))
        expect_ok("data", "pack", self.folder / "text", "--tokenizer", tokenizer, "--context", 21, "--out", self.folder / "wide")
        out = self.folder / "wide_out"
        expect_ok("swarm", "--out", out, "--peers", 3, "--byzantine", 0, "--steps", 160, "--model", "gpt", "--layers", 1, "--width", 32,
                  "--heads", 2, "--context", 21, "--batch-size", 8, "--data", f"tokens:{self.folder / 'wide'}", "--optimizer", "adamw",
                  "--learning-rate", 0.02)
        node = out / "node1"
        said = expect_ok("generate", node, "Nobody vou", "--tokenizer", f"{self.folder / 'wide'}.tokenizer.json", "--temperature", 0,
                         "--tokens", 30, "--seed", 1)
        self.assertEqual(said, (SENTENCE * 9)[:len(said) - 1] + "\n")
        self.assertGreater(len(said), 40)
        self.refused(2, ["generate", node, "a"], "the model has 331 tokens, more than bytes", "--tokenizer FILE")
        self.refused(3, ["generate", node, "a", "--tokenizer", self.folder / "none"], "is no file")
        self.refused(2, ["generate", node, "\udcff", "--tokenizer", tokenizer], "the prompt is no UTF-8 at byte 0")
        self.assertTrue(expect_ok("generate", node, "a", "--tokenizer", "bytes", "--tokens", 1))
        tokenizer.write_text(json.dumps(other))
        self.refused(2, ["generate", node, "a", "--tokenizer", tokenizer], "tokens, and the model only 331")


if __name__ == "__main__":
    harness.main()
