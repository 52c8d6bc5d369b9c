"""`ostraka doctor` on the machine that runs the tests."""
import json
import socket
import time

import harness
from harness import TestCase, run

CHECKS = ["cpu", "threads", "kernels", "blas", "trainer", "memory", "disk", "files", "clock", "listen", "device"]


class DoctorTest(TestCase):
    def doctor(self, *options):
        result = run("doctor", "--json", "--data-dir", self.folder, *options)
        self.assertEqual(result.stderr, "")
        report = json.loads(result.stdout)
        serious = [f for f in report["findings"] if f["severity"] == "serious"]
        self.assertEqual((result.returncode, report["ok"]), (1 if serious else 0, not serious))
        for finding in report["findings"]:
            self.assertEqual(set(finding), {"check", "severity", "text", "fix"})
            self.assertEqual(finding["fix"] == "", finding["severity"] == "ok", finding)
        return {finding["check"]: finding for finding in report["findings"]}

    def test_every_check_has_one_finding(self):
        findings = self.doctor()
        self.assertEqual(list(findings), CHECKS)
        self.assertEqual(findings["disk"]["severity"], "ok", findings["disk"])
        self.assertEqual(findings["listen"]["severity"], "ok")
        self.assertEqual(list(self.folder.iterdir()), [], "it leaves nothing behind")
        text = run("doctor", "--data-dir", self.folder).stdout
        for check in CHECKS:
            self.assertRegex(text, rf"(?m)^(ok|warning|serious) +{check} ")

    def test_a_taken_port_and_a_folder_that_cannot_be_written(self):
        taken = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(taken.close)
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        finding = self.doctor("--listen", address)["listen"]
        self.assertEqual(finding["severity"], "serious")
        self.assertIn(address, finding["text"])
        result = run("doctor", "--data-dir", "/proc/none")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stdout, r"(?m)^serious +disk +/proc/none: cannot be written")

    def test_members_that_answer_and_members_that_do_not(self):
        made = self.make_run(count=3)
        made.sockets[2].close()
        findings = self.doctor(made.manifest)
        self.assertEqual(findings["work"]["severity"], "ok", findings["work"])
        self.assertRegex(findings["work"]["text"], r"takes [\d.]+ m?s on processor, and the run allows \d")
        finding = findings["reach"]
        self.assertEqual(finding["severity"], "warning")
        self.assertIn("2 of 3 members", finding["text"])
        self.assertIn(made.ids[2][:16], finding["text"])
        self.refused(3, ["doctor", self.folder / "none.toml"], "none.toml")

    def test_a_run_whose_data_are_not_here(self):
        text = self.folder / "text"
        text.write_text("the quick brown fox jumps over the lazy dog. " * 400)
        made = self.make_run(count=3, model="gpt", options=["--data", f"text:{text}", "--layers", 1, "--width", 16, "--heads", 2, "--context", 16])
        finding = self.doctor(made.manifest)["model"]
        self.assertEqual(finding["severity"], "warning")
        self.assertIn("--data", finding["fix"])
        for wrong in (f"text:{self.folder / 'none'}", "digits"):
            finding = self.doctor(made.manifest, "--data", wrong)["model"]
            self.assertEqual(finding["severity"], "serious")
            self.assertIn("a node with these options would end: ", finding["text"])
        graph = made.manifest.with_suffix(".toml.graph")
        graph.rename(graph.with_suffix(".gone"))
        self.assertIn("run.toml.graph", self.doctor(made.manifest, "--data", f"text:{text}")["model"]["text"])

    def test_members_in_the_dht_say_how_this_machine_looks_from_outside(self):
        made = self.make_run(count=3)
        finding = self.doctor(made.manifest)["outside"]
        self.assertEqual(finding["severity"], "ok")
        self.assertIn("none of 3 members says", finding["text"])
        self.running(made.start(0, "--dht", "server"))
        address = f"127.0.0.1:{made.sockets[0].getsockname()[1]}"
        deadline = time.monotonic() + harness.DEADLINE_S
        while run("dht", "ping", address).returncode != 0:  # it waits for seconds itself
            self.assertLess(time.monotonic(), deadline)
        finding = self.doctor(made.manifest)["outside"]
        self.assertEqual(finding["severity"], "ok")
        self.assertRegex(finding["text"], r"seen from outside as 127\.0\.0\.1:\d+: an address of this machine, no NAT")

    def test_members_that_do_not_answer_have_their_names(self):
        made = self.make_run(count=3)
        text = made.manifest.read_text()
        first = made.ids[2]
        self.assertEqual(text.count(f'id = "{first}"'), 1)
        made.manifest.write_text(text.replace(f'id = "{first}"', f'id = "{first}"\nname = "anna"'))
        made.sockets[2].close()
        self.assertIn(f"(anna ({first[:8]}) at 127.0.0.1:", self.doctor(made.manifest)["reach"]["text"])

    def test_calibrate_states_the_eps_g_that_a_manifest_needs(self):
        made = self.make_run(count=4, model="softmax", options=["--profile", "tolerant"])
        result = run("doctor", made.manifest, "--calibrate", "--json")
        if "needs libostraka_torch.so" in result.stdout:
            self.skipTest("built without libtorch")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        report = json.loads(result.stdout)
        [measured] = report["calibration"]
        self.assertEqual(measured["model"], "softmax on digits")
        self.assertGreater(measured["noise"], 1e-8, "SSE and what is native here must differ")
        self.assertLess(measured["noise"], 1e-5)
        self.assertEqual(measured["noise"], max(measured["paths"].values()))
        self.assertAlmostEqual(measured["least_eps_g"], 10 * measured["noise"])
        [finding] = report["findings"]
        self.assertEqual((finding["check"], finding["severity"]), ("eps_g", "ok"), finding)
        made.replace("eps_g = 6.4e-05", "eps_g = 1e-12")
        refused = run("doctor", made.manifest, "--calibrate")
        self.assertEqual(refused.returncode, 1, refused.stdout)
        self.assertIn("write a manifest with eps_g = ", refused.stdout)

    def test_exact_kernels_show_their_digest_and_no_noise(self):
        finding = self.doctor()["kernels"]
        self.assertEqual(finding["severity"], "ok", finding)
        self.assertRegex(finding["text"], r"exact gradients by scalar.*, conformance digest [0-9a-f]{64}\Z")
        made = self.make_run(count=4, model="mlp")
        report = json.loads(run("doctor", made.manifest, "--calibrate", "--json").stdout)
        [measured] = report["calibration"]
        self.assertEqual((measured["noise"], measured["eps_g"]), (0, 0))
        self.assertIn("scalar", measured["paths"])
        self.assertIn("equal in every bit", report["findings"][0]["text"])


if __name__ == "__main__":
    harness.main()
