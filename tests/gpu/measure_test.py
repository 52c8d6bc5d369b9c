#!/usr/bin/env python3
"""The program and the table that a machine with a GPU runs, on the emulated device and the processor."""
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest

MEASURE = os.environ["DEVICE_MEASURE"]
HERE = pathlib.Path(__file__).resolve().parent


def measured(*words):
    return subprocess.run([MEASURE, *map(str, words)], capture_output=True, text=True, timeout=300)


class MeasureTest(unittest.TestCase):
    def test_bits_and_speed_become_a_table(self):
        text = ""
        for words in (["cpu", "digests"], ["emulated", "cases", 1], ["emulated", "product", 40, 50, 60], ["cpu", "product", 40, 50, 60],
                      ["emulated", "gpt", 1, 8, 2, 6, 11, 2], ["cpu", "gpt", 1, 8, 2, 6, 11, 2], ["emulated", "step", 1, 8, 2, 6, 11, 2]):
            ended = measured(*words)
            self.assertEqual(ended.returncode, 0, (words, ended.stderr))
            text += ended.stdout
        lines = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(sum(line["what"] == "digest" and line["same"] for line in lines), 9)
        [cases] = [line for line in lines if line["what"] == "cases"]
        self.assertEqual(cases["differ"], 0)
        self.assertGreater(cases["cases"], 20)
        emulated, by_cpu = [line["digest"] for line in lines if line["what"] == "gpt"]
        self.assertEqual(emulated, by_cpu)
        [step] = [line for line in lines if line["what"] == "local step"]
        self.assertTrue(step["same"])
        for line in lines:
            if line["what"] == "product":
                self.assertGreater(line["tflops"], 0)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "lines"
            path.write_text(text + '{"what":"failed","step":"./device_measure cuda:0","code":3}\nnoise\n')
            subprocess.run([sys.executable, HERE / "table.py", path, folder], check=True, capture_output=True)
            table = (pathlib.Path(folder) / "gpu.md").read_text()
            self.assertIn("| product 40 x 50 x 60 | emulated |", table)
            self.assertIn("| local step of a gpt of ", table)
            self.assertIn("| FAILED | ./device_measure cuda:0 | exit code 3 |", table)
            self.assertEqual(len(json.loads((pathlib.Path(folder) / "gpu.json").read_text())["results"]), len(lines) + 1)

    def test_what_it_cannot_do(self):
        self.assertEqual(measured("emulated").returncode, 2)
        self.assertEqual(measured("cpu", "cases", 1).returncode, 2)
        ended = measured("gpu", "digests")
        self.assertEqual(ended.returncode, 3)
        self.assertEqual(ended.stderr, "device_measure: no device gpu\n")


if __name__ == "__main__":
    unittest.main()
