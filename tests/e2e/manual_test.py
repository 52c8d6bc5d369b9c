"""The manual page and the completions: complete, valid, and understood by the shells themselves."""
import json
import re
import shutil
import subprocess
from pathlib import Path

import harness
from harness import OSTRAKA, TestCase, expect_ok

BUILT = Path(OSTRAKA).parent / "manual"


def help_of(*command):
    return expect_ok(*command, "--help")


def subcommands(text):
    _, _, after = text.partition("Subcommands:\n")
    return re.findall(r"^  ([a-z]+)(?: |$)", after.partition("\n\n")[0], re.MULTILINE)


def all_commands(path=()):
    """Every command, found by --help alone: a tuple of words and its help."""
    text = help_of(*path)
    yield path, text
    for name in subcommands(text):
        yield from all_commands((*path, name))


def long_options(text):
    """The options in the list of a --help, without the footer's examples."""
    listed = re.split(r"\n\n(?=Examples?:)", text)[0]
    return re.findall(r"^  (?:-\w,)?(--[a-z-]+)", listed, re.MULTILINE)


COMMANDS = dict(all_commands())


def unescaped(page):
    return page.replace("\\-", "-").replace("\\fB", "").replace("\\fI", "").replace("\\fR", "")


class PageTest(TestCase):
    def test_every_command_has_its_section_with_every_option(self):
        self.assertGreater(len(COMMANDS), 30)
        page = unescaped(expect_ok("manual"))
        sections = dict(re.findall(r"^\.SS (.*)\n((?s:.*?))(?=^\.S[SH] |\Z)", page, re.MULTILINE))
        sections["ostraka"] = re.search(r"(?s)\.SH OPTIONS\n(.*?)\.SH", page)[1]
        self.assertEqual(len(sections), len(COMMANDS))
        for path, text in COMMANDS.items():
            with self.subTest(command=path):
                section = sections[" ".join(["ostraka", *path])]
                options = re.findall(r"^\.TP\n(?:-\w, )?(--[a-z-]+)", section, re.MULTILINE)
                self.assertEqual(sorted(options), sorted(long_options(text)))
                example = re.search(r"(?m)^Examples?: .*", text)
                if example:
                    self.assertIn(example[0].replace("`", "\\(ga").replace("~", "\\(ti"), section)

    def test_formatters_have_no_complaint(self):
        page = self.folder / "ostraka.1"
        page.write_text(expect_ok("manual"))
        checks = {"groff": ["groff", "-man", "-Tutf8", "-ww", "-z", page],
                  "mandoc": ["mandoc", "-Tlint", "-Werror", page]}
        tried = []
        for name, command in checks.items():
            if not shutil.which(name):
                continue
            ended = subprocess.run(command, capture_output=True, text=True,
                                   timeout=harness.DEADLINE_S)
            self.assertEqual((ended.returncode, ended.stdout + ended.stderr), (0, ""), name)
            tried.append(name)
        if not tried:
            self.skipTest("NOT TESTED: neither groff nor mandoc")

    def test_the_build_wrote_what_the_command_prints(self):
        for form, name in [("man", "ostraka.1"), ("bash", "ostraka.bash"), ("zsh", "_ostraka"),
                           ("fish", "ostraka.fish")]:
            self.assertEqual((BUILT / name).read_text(), expect_ok("manual", form))

    def test_an_unknown_form_is_refused(self):
        self.refused(2, ["manual", "bsh"], "unknown form 'bsh'", "did you mean 'bash'?")


class Shell:
    """Asks a shell what it offers for a command line whose last word is under the cursor."""

    def __init__(self, test):
        self.folder = test.folder

    def script_of(self, name):
        """The first line of a script: it reads what `ostraka manual NAME` prints."""
        file = self.folder / f"ostraka.{name}"
        file.write_text(expect_ok("manual", name))
        return f"source {file}\n"

    def ask(self, command, script):
        ended = subprocess.run([*command, script], capture_output=True, text=True,
                               cwd=self.folder, timeout=harness.DEADLINE_S)
        assert (ended.returncode, ended.stderr) == (0, ""), (script, ended)
        return ended.stdout.split("\n")[:-1]


class Bash(Shell):
    def answers(self, lines):
        script = self.script_of("bash")
        for words in lines:
            quoted = " ".join(f"'{word}'" for word in ["ostraka", *words])
            script += (f"COMP_WORDS=({quoted}); COMP_CWORD={len(words)}; COMPREPLY=(stale)\n"
                       '_ostraka; echo "${COMPREPLY[*]}"\n')
        return [line.split() for line in self.ask(["bash", "--norc", "-c"], script)]


class Fish(Shell):
    def answers(self, lines):
        script = self.script_of("fish")
        for words in lines:
            line = " ".join(["ostraka", *words])
            script += f"echo (complete -C '{line}' | string replace -r '\\t.*' '')\n"
        return [line.split() for line in self.ask(["fish", "--no-config", "-c"], script)]


class Zsh(Shell):
    """Its completion system needs a terminal, so two functions of it are stood in for."""

    PRELUDE = """
_files() { print FILES }
compset() { :; }
compadd() {  # the entries after --, filtered by the word
  while [[ "$1" != -- ]]; do shift; done
  shift
  print -rn -- "${(@M)@:#${words[CURRENT]}*} "
}
_describe() {  # as the real one: the array that the last argument names, filtered by the word
  local -a entries=("${(@P)@[-1]%%:*}")
  print -r -- "${(@M)entries:#${words[CURRENT]}*}"
}
"""

    def answers(self, lines):
        file = self.folder / "_ostraka"
        file.write_text(expect_ok("manual", "zsh"))
        script = f". {file}\n{self.PRELUDE}"
        for words in lines:
            quoted = " ".join(f"'{word}'" for word in ["ostraka", *words])
            script += f"words=({quoted}); CURRENT={len(words) + 1}; print -r -- $(_ostraka)\n"
        return [line.split() for line in self.ask(["zsh", "-f", "-c"], script)]


def known(*command):
    """The names that the error of a command lists, which got `nobody-xyzzy` where it takes one of them."""
    ended = harness.run(*command)
    assert ended.returncode == 2, (command, ended)
    listed = re.search(r"(?:known: use one of |known: use |known: ?|use |must be )(.*?)(?:, not .*)?$", ended.stderr.strip())
    assert listed, ended.stderr
    return [name for name in re.split(r",? or |, | ", listed[1]) if name]


def choices():
    """By command and option, which values it takes, as the commands themselves list or refuse them."""
    bad = "nobody-xyzzy"
    listed = lambda command, key: [entry["name"] for entry in
                                   json.loads(expect_ok(command, "--list", "--json"))[key]]
    attacks, modes = known("sim", "--attack", bad), known("sim", "--mode", bad)
    data = [name if name in ("toy", "digits") else name + ":" for name in known("data", "check", bad)]
    rules, pre = listed("aggregate", "rules"), listed("aggregate", "pre")
    parts = known("swarm", "--model", "toy", "--evaluate-on", bad)
    profiles = known("swarm", "--profile", bad)
    found = {("sim", "--attack"): attacks, ("swarm", "--attack"): attacks, ("node", "--attack"): attacks,
             ("sim", "--mode"): modes, ("swarm", "--mode"): modes, ("run", "init", "--mode"): modes,
             ("swarm", "--data"): data, ("run", "init", "--data"): data, ("node", "--data"): data,
             ("data", "check"): data, ("compare", "--data"): data,
             ("swarm", "--evaluate-on"): parts, ("node", "--evaluate-on"): parts,
             ("swarm", "--profile"): profiles, ("run", "init", "--profile"): profiles,
             ("sim", "--cut"): known("sim", "--cut", bad),
             ("sim", "dht", "--adversary"): known("sim", "dht", "--share", 10, "--adversary", bad),
             ("compare", "--preset"): known("compare", "--preset", bad),
             ("model", "make"): known("model", "make", bad, "--out", "/nonexistent"),
             ("manual",): known("manual", bad),
             ("attack", "--name"): listed("attack", "attacks")}
    found["bench", "aggregation", "--rule"] = rules + pre
    for command in ("aggregate", "attack"):
        found[command, "--rule"], found[command, "--pre"] = rules, pre
    models = {name.removesuffix("FILE") for name in known("swarm", "--model", bad)}
    told = re.search(r"--model TEXT=\w+ +([^(]*)\(docs/graph.md", help_of("swarm"))
    assert models == set(re.findall(r"\w+:?", told[1].replace("FILE", ""))) - {"or"}, (models, told[1])
    found["swarm", "--model"] = found["run", "init", "--model"] = sorted(models)
    return found


class CompletionTest(TestCase):
    def complete(self, shell):
        paths = list(COMMANDS)
        offered = shell.answers([[*path, "--"] for path in paths])
        for path, names in zip(paths, offered, strict=True):
            with self.subTest(command=path):
                self.assertEqual(sorted(names), sorted(long_options(COMMANDS[path])))
        parents = [path for path in paths if subcommands(COMMANDS[path])]
        offered = shell.answers([[*path, ""] for path in parents])
        for path, names in zip(parents, offered, strict=True):
            with self.subTest(command=path):
                self.assertEqual(sorted(names), sorted(subcommands(COMMANDS[path])))

    def every_choice_is_offered(self, shell):
        found = choices()
        self.assertGreater(min(len(names) for names in found.values()), 1)
        offered = shell.answers([[*words, ""] for words in found])
        for (words, names), got in zip(found.items(), offered, strict=True):
            with self.subTest(words=words):
                # fish offers files beside choices before which a path may stand.
                got = [name for name in got if not (self.folder / name).exists()]
                self.assertEqual(sorted(got), sorted(names))
        offered = shell.answers([["sim", "--attack", "sign_f"], ["swarm", "--data", "mn"],
                                 ["node", "--log-level", "w"], ["node", "--kernels", "av"]])
        self.assertEqual(offered, [["sign_flip"], ["mnist:"], ["warning"], ["avx2", "avx512"]])

    def values(self, shell):
        (self.folder / "a-file").touch()
        ask = lambda *words: shell.answers([words])[0]
        self.assertEqual(ask("key", "n"), ["new"])
        self.assertIn("--seed", ask("sim", "--peers", "4", "--attack=alie", "--se"))
        # "dht" is a subcommand of sim, but here it is the value of an option.
        self.assertNotIn("--bandwidth", ask("sim", "--report", "dht", "--"))
        self.assertIn("--peers", ask("sim", "--report", "dht", "--"))
        # A flag has no value.
        self.assertEqual(ask("sim", "--json", "shr"), ["shrink"])
        return ask

    def test_bash(self):
        if not shutil.which("bash"):
            self.skipTest("NOT TESTED: no bash")
        self.complete(Bash(self))
        self.every_choice_is_offered(Bash(self))
        ask = self.values(Bash(self))
        # Nothing of ours: bash completes a file name (-o default).
        self.assertEqual(ask("sim", "--report", ""), [])
        self.assertEqual(ask("key", "new", ""), [])
        self.assertIn("--steps", ask("swarm", ""))
        self.assertEqual(ask("sim", "--report", "=", ""), [])
        self.assertEqual(ask("sim", "--attack", "=", "sign_f"), ["sign_flip"])
        # Readline splits at colons; the place after one is a file's name.
        self.assertEqual(ask("data", "check", "mnist", ":", "/d"), [])

    def test_fish(self):
        if not shutil.which("fish"):
            self.skipTest("NOT TESTED: no fish")
        self.complete(Fish(self))
        self.every_choice_is_offered(Fish(self))
        ask = self.values(Fish(self))
        self.assertEqual(ask("sim", "--report", "a-f"), ["a-file"])

    def test_zsh(self):
        if not shutil.which("zsh"):
            self.skipTest("NOT TESTED: no zsh")
        self.complete(Zsh(self))
        self.every_choice_is_offered(Zsh(self))
        ask = self.values(Zsh(self))
        self.assertEqual(ask("sim", "--report", ""), ["FILES"])
        self.assertEqual(ask("key", "new", ""), ["FILES"])
        self.assertEqual(ask("swarm", "--data", "mnist:/d"), ["FILES"])


if __name__ == "__main__":
    harness.main()
