"""The notebooks of docs/notebooks: each runs from the top in a new kernel, and is kept without outputs.

The kernel is Debian's python3, which has the packages. Exit code 77, NOT TESTED, where they are missing.
"""
import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOKS = sorted((ROOT / "docs/notebooks").glob("*.ipynb"))
CELL_DEADLINE_S = 300
SKIPPED = 77

try:
    import matplotlib  # noqa: F401  (the kernel draws with it)
    import nbclient
    import nbformat
    from jupyter_client.kernelspec import KernelSpecManager, NoSuchKernel
except ImportError as missing:
    print(f"NOT TESTED: the notebooks need python3-nbclient, -nbformat, -ipykernel and -matplotlib ({missing})")
    sys.exit(SKIPPED)


def lacks():
    """What the notebooks need and this machine lacks, or nothing."""
    try:
        KernelSpecManager().get_kernel_spec("python3")
    except NoSuchKernel:
        return "python3-ipykernel"
    ended = subprocess.run([sys.executable, "-c", "import ostraka"], capture_output=True, text=True)
    return "the module ostraka: " + ended.stderr.strip().split("\n")[-1] if ended.returncode else ""


def code_cells(notebook):
    return [cell for cell in notebook.cells if cell.cell_type == "code"]


def run(notebook):
    """Runs all cells of a copy, in their order, in a kernel of their own; raises at the first error."""
    copy = nbformat.from_dict(notebook)
    client = nbclient.NotebookClient(copy, timeout=CELL_DEADLINE_S, kernel_name="python3",
                                     resources={"metadata": {"path": str(ROOT / "docs/notebooks")}})
    client.execute()
    return copy


class NotebookTest(unittest.TestCase):
    def test_every_notebook_runs_from_the_top(self):
        self.assertEqual([path.stem for path in NOTEBOOKS], ["compare-two-rules", "fine-tune-by-streaming", "watch-a-swarm"])
        for path in NOTEBOOKS:
            with self.subTest(path.name):
                notebook = nbformat.read(path, as_version=4)
                nbformat.validate(notebook)
                done = code_cells(run(notebook))
                self.assertEqual([cell.execution_count for cell in done], list(range(1, len(done) + 1)))
                outputs = [output for cell in done for output in cell.outputs]
                errors = [output for output in outputs
                          if output.output_type == "error" or output.get("name") == "stderr"]
                self.assertEqual(errors, [])
                drawn = [output for output in outputs if "image/png" in output.get("data", {})]
                self.assertGreaterEqual(len(drawn), 2)

    def test_a_failing_cell_fails_its_notebook(self):
        notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("assert 1 == 2")])
        with self.assertRaisesRegex(nbclient.exceptions.CellExecutionError, "1 == 2"):
            run(notebook)

    def test_none_keeps_outputs(self):
        for path in NOTEBOOKS:
            for cell in code_cells(nbformat.read(path, as_version=4)):
                self.assertEqual((cell.outputs, cell.execution_count), ([], None), path.name)


if __name__ == "__main__":
    if os.environ.get("PYTHONPATH"):  # the kernel runs in another folder
        os.environ["PYTHONPATH"] = str(Path(os.environ["PYTHONPATH"]).resolve())
    problem = lacks()
    if problem:
        print(f"NOT TESTED: the notebooks need {problem}")
        sys.exit(SKIPPED)
    unittest.main(verbosity=2)
