"""The stubs and the docstrings say what the module has, no more and no less."""
import ast
import inspect
import unittest
from pathlib import Path

import ostraka

STUBS = ast.parse(Path(ostraka.__file__).with_name("ostraka.pyi").read_text())


def named(kind, body=STUBS.body):
    return {node.name: node for node in body if isinstance(node, kind)}


class StubsTest(unittest.TestCase):
    def test_the_same_names(self):
        functions = set(named(ast.FunctionDef))
        classes = set(named(ast.ClassDef)) - {"_Tensor", "Report"}  # for annotations
        public = {name for name in dir(ostraka) if not name.startswith("_")}
        self.assertEqual(functions | classes, public)
        for module in ["rules", "attacks"]:
            stub = named(ast.FunctionDef, named(ast.ClassDef)[module].body)
            real = {name for name in dir(getattr(ostraka, module)) if not name.startswith("_")}
            self.assertEqual(set(stub), real)

    def test_every_parameter(self):
        for module, listed in [("rules", ostraka.list_rules()),
                               ("attacks", ostraka.list_attacks())]:
            stubs = named(ast.FunctionDef, named(ast.ClassDef)[module].body)
            for entry in listed:
                keywords = {a.arg for a in stubs[entry["name"]].args.kwonlyargs}
                for parameter in entry["parameters"]:
                    self.assertIn(parameter["keyword"], keywords, entry["name"])

    def test_docstrings_come_from_the_registry(self):
        for module, listed in [(ostraka.rules, ostraka.list_rules()),
                               (ostraka.attacks, ostraka.list_attacks())]:
            for entry in listed:
                doc = getattr(module, entry["name"]).__doc__
                self.assertTrue(doc.startswith(entry["name"] + "("), doc)
                for text in [entry["summary"], entry["definition"], entry["source"]]:
                    self.assertIn(text, doc)
                for parameter in entry["parameters"]:
                    self.assertIn(f"{parameter['keyword']}: {parameter['range']}", doc)

    def test_everything_public_has_a_docstring(self):
        for name in dir(ostraka):
            if not name.startswith("_"):
                self.assertTrue(inspect.getdoc(getattr(ostraka, name)), name)


if __name__ == "__main__":
    unittest.main(verbosity=2)
