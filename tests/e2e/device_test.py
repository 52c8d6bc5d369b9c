"""Gradients on a device: by pocl (Debian's pocl-opencl-icd), in a child process of each node.

Members with and without a device train together, convict each other by bits, and lose a device without losing anything.
"""
import json
import os
import signal
import subprocess

import harness
from harness import OSTRAKA, TINY_GPT, TINY_TEXT, Running, TestCase, children_of, expect_ok, run


def processor_of_opencl():
    """The name of pocl's device; None: it is not here."""
    findings = json.loads(run("doctor", "--json").stdout)["findings"]
    for text in (each["text"] for each in findings if each["check"] == "device"):
        if "is this machine's processor" in text:
            return text.split(": ")[0]
    return None


class DeviceTest(TestCase):
    def setUp(self):
        super().setUp()
        self.text = self.folder / "text"
        self.text.write_text(TINY_TEXT * 300)
        self.options = [*TINY_GPT, "--data", f"text:{self.text}"]
        self.device = processor_of_opencl()
        if self.device is None:
            self.skipTest("NOT TESTED: no OpenCL on this machine; apt-get install pocl-opencl-icd")

    def logs(self, out):
        return [path.read_text() for path in sorted(out.glob("node*.log"))]

    def test_members_with_and_without_a_device_convict_a_liar_that_has_one(self):
        out = self.folder / "out"
        swarm = Running("swarm", "--json", "--out", out, *self.options, "--peers", 5, "--byzantine", 1, "--steps", 60,
                        "--device", f"{self.device},cpu")
        self.addCleanup(swarm.close)
        swarm.wait_for("stderr", lambda line: line.startswith("step "))
        computes = [len(children_of(node)) for node in children_of(swarm.pid)]
        self.assertEqual(computes, [1, 0, 1, 0, 1])
        self.assertEqual(swarm.finish(), 0, swarm.text["stderr"])
        result = swarm.report()
        self.assertTrue(result["state_roots_equal"])
        [liar] = result["byzantine"]
        self.assertEqual([removal["peer"] for removal in result["removals"]], [liar])
        self.assertIn("does not follow from its batch", result["removals"][0]["reason"])
        # The liar's own node is among those that computed on a device.
        self.assertIn(result["names"][liar], ("node0", "node2", "node4"))

        # A stranger convicts it on a processor.
        evidence = out / "evidence"
        proofs = [path for path in sorted(evidence.glob("*.evidence"))
                  if "gradient" in json.loads(expect_ok("evidence", "show", "--json", path))["kind"]]
        self.assertNotEqual(proofs, [])
        expect_ok("evidence", "verify", "--manifest", out / "run.toml", "--data", f"text:{self.text}", "--state",
                  evidence, proofs[0])

    def test_a_node_whose_driver_dies_goes_on(self):
        out = self.folder / "out"
        swarm = Running("swarm", "--out", out, *self.options, "--peers", 3, "--byzantine", 0, "--steps", 60,
                        "--evaluate-every", 5, "--device", f"{self.device},cpu")
        self.addCleanup(swarm.close)
        swarm.wait_for("stderr", lambda line: line.startswith("step 5:") or line.startswith("step 4:"))
        drivers = [child for node in children_of(swarm.pid) for child in children_of(node)]
        self.assertEqual(len(drivers), 2)
        os.kill(drivers[0], signal.SIGKILL)
        self.assertEqual(swarm.finish(), 0, swarm.text["stderr"])
        harness.await_gone(drivers)
        lost = [log for log in self.logs(out) if "ended by signal 9" in log]
        self.assertEqual(len(lost), 1)
        self.assertIn("the processor computes, and after 8 gradients the device is tried again", lost[0])


class RefusalsTest(TestCase):
    def test_names_and_runs_that_have_no_device(self):
        made = harness.Run(self.folder / "run", options=["--hidden", 8], model="mlp")
        self.addCleanup(made.close)
        node = ["node", made.manifest, "--key", made.key(0), "--data-dir", self.folder / "node"]
        self.refused(2, [*node, "--device", "gpu"], "no device 'gpu': give cpu, auto, opencl:N or cuda:N")
        self.refused(2, [*node, "--device-memory", "0"], "--device-memory must be above 0")
        ended = run(*node, "--device", "cuda:99")
        self.assertEqual(ended.returncode, 3, ended.stderr)
        self.assertRegex(ended.stderr, r"\Aostraka: cuda:99: .*\n\Z")
        toy = harness.Run(self.folder / "toy")
        self.addCleanup(toy.close)
        self.refused(2, ["node", toy.manifest, "--key", toy.key(0), "--data-dir", self.folder / "toy0", "--device",
                         "cuda:0"], "only gradients of runs with compute_profile exact/1 are computed on a device")

    def test_a_swarm_that_cannot_have_its_devices_starts_no_node(self):
        out = self.folder / "out"
        swarm = ["swarm", "--out", out, "--device"]
        self.refused(2, [*swarm, "cpu,gpu"], "no device 'gpu': give cpu, auto, opencl:N or cuda:N")
        self.refused(2, [*swarm, "cuda:0", "--model", "toy"], "only gradients of runs with compute_profile exact/1")
        self.assertFalse(out.exists())

    def test_the_child_is_no_command(self):
        ended = subprocess.run([OSTRAKA, "device-host", "list"], capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 3)
        self.assertEqual(ended.stderr, "ostraka: device-host is what `ostraka node --device` starts by itself\n")
        self.assertNotIn("device-host", expect_ok("--help"))


if __name__ == "__main__":
    harness.main()
