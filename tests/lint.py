#!/usr/bin/env python3
"""The rules of the house, checked: layers, banned constructs, headers, formatting, sizes.

usage: tests/lint.py [--fast] [--format] [--rules]

  --fast    leave out what compiles (headers that stand alone)
  --format  run clang-format on every file instead of checking
  --rules   list the checks

Prints `path:line: [rule] message`, one finding a line. Exit code 0 (warnings may have been
printed), 1 if a rule is broken, 3 if a tool is missing. The tables are in tests/lint_rules.py, the
rules for classes in tests/lint_classes.py, the tests in tests/lint_test.py and
tests/lint_classes_test.py. Needs Python 3.11 and nothing else.
"""

import argparse
import concurrent.futures
import fnmatch
import functools
import hashlib
import multiprocessing
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import lint_rules as rules  # noqa: E402  (the path above finds it)
import lint_text as text_of  # noqa: E402
import planted  # noqa: E402
from lint_classes import (  # noqa: E402
    check_collaborators, check_contract, check_fingerprint, check_mutual_calls, check_one_journal,
    check_one_transition, check_promises, check_removals, check_sentences)
from lint_tree import ROOT, Finding, Tree, layer_of, matches, unit_names  # noqa: E402

# Marks of headers that compiled, by their content, so all checkouts of a user share them.
CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache") / "ostraka-lint"

# --- checks: each takes a Tree and yields Findings -----------------------------------------------

def check_layers(tree):
    """a file includes only its own folder and lower layers, from the repository's root"""
    for path in tree.cpp():
        own = layer_of(path)
        for line, target, quoted in tree.includes(path):
            if not quoted:
                continue
            if _library(target):  # quoted in a library's own style; check_third_party judges it
                continue
            other = layer_of(target)
            if target not in tree.texts:
                yield Finding(path, line, "layers", f'no such file "{target}"; includes are from '
                              "the repository's root")
                continue
            if own is None:
                continue
            if other is None:
                yield Finding(path, line, "layers", f"{target} is not part of the product")
            elif other[1] != own[1] and other[0] >= own[0]:
                yield Finding(path, line, "layers", f"{own[1]} (layer {own[0]}) may not include "
                              f"{other[1]} (layer {other[0]}): {target}")
            else:
                for who, whom, why in rules.STRANGERS:
                    if own[1] in who and other[1] in whom:
                        yield Finding(path, line, "layers",
                                      f"{own[1]} may not include {other[1]} ({target}): {why}")


@functools.cache
def _library(target):
    """The row of THIRD_PARTY that an include fits, or None."""
    return next((row for row in rules.THIRD_PARTY if matches(row[0], target)), None)


def check_third_party(tree):
    """libraries and the system are included, or reached, only where docs/architecture.md allows"""
    for path in tree.cpp():
        if path.startswith("tests/"):
            continue
        for line, target, quoted in tree.includes(path):
            problem = _third_party_problem(tree, path, target, quoted)
            if problem:
                yield Finding(path, line, "third-party", problem)


def _third_party_problem(tree, path, target, quoted):
    row = _library(target)
    if row:
        return None if matches(row[1], path) else f"{row[2]} may only be included in {row[1]}"
    if quoted:
        for header in _closure(tree, target):
            for _, deeper, _ in tree.includes(header):
                row = _library(deeper)
                if (row and row[2] not in rules.SHOWN_THROUGH_HEADERS and matches(row[1], header)
                        and not matches(row[1], path)):
                    return f"{target} shows {row[2]} ({header}), which only {row[1]} may see"
        return None
    if target in rules.STANDARD_HEADERS:
        return None
    if rules.INTRINSICS_HEADER.fullmatch(target) and rules.INTRINSICS_FILES.fullmatch(path):
        return None
    if rules.SYSTEM_HEADER.fullmatch(target):
        if any(matches(files, path) for files, _ in rules.SYSTEM_HEADER_FILES):
            return None
        return f"<{target}> is the operating system's; allowed in drivers and tools"
    return f"<{target}> is in no row of tests/lint_rules.py THIRD_PARTY"


def check_banned(tree):
    """no clocks, randomness, threads, unordered containers ... in the pure layers"""
    used = set()
    for path in tree.cpp():
        layer = layer_of(path)
        pure = layer is not None and layer[0] < rules.FIRST_IMPURE_LAYER
        banned = rules.BANNED_EVERYWHERE + (rules.BANNED_IN_PURE_LAYERS if pure else [])
        code = tree.code(path)
        lines = code.split("\n")
        for pattern, why in banned:
            for found in re.finditer(pattern, code):
                number = code.count("\n", 0, found.start()) + 1
                if not _excepted(path, lines[number - 1], used):
                    yield Finding(path, number, "banned", f"`{found.group(0).strip()}` {why}")
        if pure:
            yield from _float_formatting(tree, path)
    for index, (files, _, _) in enumerate(rules.EXCEPTIONS):
        if index not in used and any(matches(files, path) for path in tree.cpp((".cpp",))):
            yield Finding("tests/lint_rules.py", 1, "banned",
                          f"exception {index + 1} of EXCEPTIONS is not in use: remove it", False)


def _excepted(path, line, used):
    for index, (files, pattern, _) in enumerate(rules.EXCEPTIONS):
        if matches(files, path) and re.search(pattern, line):
            used.add(index)
            return True
    return False


def _float_formatting(tree, path):
    if not rules.FORMATTERS.search(tree.code(path)):
        return
    lines = text_of.strip(tree.texts[path], keep_strings=True).split("\n")
    for number, line in enumerate(lines, 1):
        if rules.FORMATTERS.search(line) and rules.FLOAT_FORMAT.search(line):
            yield Finding(path, number, "banned", "formats a floating-point number: the text "
                          "depends on the locale and loses bits")


def check_marks(tree):
    """a TODO names who will do it; no comment is left for nobody"""
    for path in tree.cpp():
        for line, comment in text_of.comments(tree.texts[path]):
            if re.search(r"\bTODO\b(?!\([\w.-]+\): \S)", comment):
                yield Finding(path, line, "todo", "write TODO(owner): what is to be done")
            if re.search(r"\b(FIXME|XXX|HACK)\b", comment):
                yield Finding(path, line, "todo", "open an issue, or write TODO(owner): what")


def check_pragma_once(tree):
    """every header opens with #pragma once, after its comment"""
    for path in tree.cpp((".h",)):
        first = next((line for line in tree.code(path).split("\n") if line.strip()), "")
        if first.strip() != "#pragma once":
            yield Finding(path, 1, "pragma-once", "the first line of code must be #pragma once")


def check_planted(tree):
    """no header includes planted.h: a twin compiles only the sources that do"""
    for path in tree.cpp((".h",)):
        if path.startswith("tests/"):
            continue
        for line, target, _ in tree.includes(path):
            if target == "node/base/planted.h":
                yield Finding(path, line, "planted", "plant the bug in a .cpp (cmake/OstrakaBuild.cmake, ostraka_planted_twin)")


def check_planted_rows(tree, bugs=None):
    """each row of tests/planted.py quotes what stands once in its file"""
    for name, path, text, *_ in planted.BUGS if bugs is None else bugs:
        count = tree.texts.get(path, "").count(text)
        if path in tree.texts and count != 1:
            yield Finding("tests/planted.py", 1, "planted-rows", f"{name}: its text stands {count} times in {path}, not once")


_PULL_KINDS = re.compile(r"enum class PullKind[^{]*\{([^}]*)\}")
_SERVICE = re.compile(r"\bIsService\(MessageType \w+\) \{(.*?)\n\}", re.DOTALL)


def check_handlers(tree):
    """the table of handlers in docs/threat-model.md has each question and service, and what answers opens no stored frame"""
    page, messages = "docs/threat-model.md", "node/wire/messages.h"
    if page not in tree.texts or messages not in tree.texts:
        return
    rows = [line for line in tree.texts[page].split("\n") if line.startswith("| ")]
    code = "\n".join(tree.code(path) for path in tree.cpp() if path.startswith("node/wire/"))
    kinds = _PULL_KINDS.search(code)
    for kind in re.findall(r"\b(k\w+)", kinds.group(1) if kinds else ""):
        if not any(row.startswith("| PULL") and f"`{kind}`" in row for row in rows):
            yield Finding(page, 1, "handlers", f"no row says what a PULL of {kind} costs, and what counts it")
    services = _SERVICE.search(code)
    for service in re.findall(r"MessageType::k(\w+)", services.group(1) if services else ""):
        if not any(row.startswith(f"| {service.upper()}") for row in rows):
            yield Finding(page, 1, "handlers", f"no row says what a {service.upper()} costs, and what counts it")
    for path in rules.ANSWERING:
        if path in tree.texts and "wire::Open(" in tree.code(path):
            yield Finding(path, 1, "handlers", "keep what is looked up beside the frame: a decode that no ration counts")


_NAMED_TEST = re.compile(r"`([A-Z]\w+)\.([A-Z]\w+)`")
_TEST = re.compile(r"\b(?:TEST(?:_F|_P)?|RC_GTEST_(?:FIXTURE_)?PROP)\(\s*(\w+),\s*(\w+)")


def check_attacks(tree):
    """each test that the table of docs/protocol/attacks.md names exists"""
    page = "docs/protocol/attacks.md"
    there = {test for path, text in tree.texts.items() if path.startswith("tests/") for test in _TEST.findall(text)}
    for line, text in enumerate(tree.texts.get(page, "").split("\n"), 1):
        for test in _NAMED_TEST.findall(text) if text.startswith("|") else []:
            if test not in there:
                yield Finding(page, line, "attacks", f"no test {'.'.join(test)}")


def check_readmes(tree):
    """every folder of sources, and every top-level folder, says in a README.md what it is, and what does not belong there"""
    folders = set()
    for path in tree.sizes:
        parts = path.split("/")
        if len(parts) > 1 and not parts[0].startswith("."):
            folders.add(parts[0])
    folders |= {os.path.dirname(path) for path in tree.cpp((".h", ".cpp", ".capnp"))
                if not path.startswith("tests/")}
    for folder in sorted(folders - {"", "cmake"}):
        page = f"{folder}/README.md"
        if page not in tree.sizes:
            yield Finding(folder, 1, "readme", "has no README.md (model: node/base/README.md)")
        elif not re.search(r"^What does not belong here: \S", tree.texts.get(page, ""), re.MULTILINE):
            yield Finding(page, 1, "readme", "write a line `What does not belong here: THINGS (FOLDER), ...`: "
                          "what is put here by mistake, and where it goes")


# A page names a path from a top-level folder anywhere; in backticks also one that is relative to its own folder.
_QUOTED_PATH = re.compile(r"`([\w.*@-]+(?:/[\w.*@-]*)*)`")
_PATH_ENDING = re.compile(r".*(/.*|\.(h|inc|cpp|py|pml|md|txt|toml|csv|cmake|capnp|conf|in))")
_LINK = re.compile(r"\]\((?!\w+:)([^)#\s]+)(?:#[^)]*)?\)")


def check_named_paths(tree):
    """every path and link in a page leads somewhere; decisions may name what was"""
    folders = {str(above) for path in tree.sizes for above in pathlib.PurePosixPath(path).parents}
    tops = "|".join(sorted(folder for folder in folders if re.fullmatch(r"\w[\w-]*", folder)))
    rooted = re.compile(rf"(?<![\w/.*<-])((?:{tops})/[\w.*/-]*[\w*])(?![\w*<{{\\])")
    for page in _pages(tree):
        home = os.path.dirname(page)
        for line, text in _outside_fences(tree.texts[page]):
            named = rooted.findall(text)
            if os.path.basename(page) in ("README.md", "hacking.md"):
                named += [path for path in _QUOTED_PATH.findall(text) if _PATH_ENDING.fullmatch(path)]
            for path in sorted(set(named)):
                if path not in rules.NOT_PATHS and not _is_in(tree, folders, home, path.rstrip("/")):
                    yield Finding(page, line, "named-path", f"no file or folder {path}")
            for link in _LINK.findall(text):
                if os.path.normpath(os.path.join(home, link)) not in folders | set(tree.sizes):
                    yield Finding(page, line, "named-path", f"the link to {link} leads nowhere")


def _pages(tree):
    return [path for path in tree.texts if path.endswith(".md") and not path.startswith("docs/decisions/0")]


def _outside_fences(text):
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced:
            yield number, line


def _is_in(tree, folders, home, path):
    if "*" in path:
        return any(fnmatch.fnmatchcase(file, pattern) for file in tree.sizes
                   for pattern in (path, f"{home}/{path}", f"{home}/*/{path}"))
    below = f"{home}/" if home else ""
    return any(place in (path, below + path) or place.startswith(below) and place.endswith("/" + path)
               for places in (folders, tree.sizes) for place in places)


def check_room_layers(tree):
    """a room's README.md gives the layers that tests/lint_rules.py LAYERS gives the room"""
    for page in _pages(tree):
        home = os.path.dirname(page)
        for line, text in _outside_fences(tree.texts[page]):
            title = re.match(rf"# {re.escape(home)} \((?=layers? )(.*)\)", text)
            row = re.match(r"\| ([\d to]+) \| (.*)", text)
            if title:
                yield from _layers_of_room(tree, page, line, home, title.group(1))
            for room in re.findall(r"\]\(([\w/]+)/README\.md\)", row.group(2)) if row else []:
                yield from _layers_of_room(tree, page, line, f"{home}/{room}", row.group(1))


def _layers_of_room(tree, page, line, room, text):
    inside = [path for path in tree.cpp() if path.startswith(f"{room}/") and layer_of(path)]
    below = {layer_of(path)[0] for path in inside}
    own = {layer_of(path)[0] for path in inside if os.path.dirname(path) == room}
    given = {int(number) for number in re.findall(r"\d+", text)}
    if below and given not in (own, {min(below), max(below)}):
        yield Finding(page, line, "room-layers",
                      f"{room} has the layers {sorted(own or below)}, see LAYERS")


def check_test_mirror(tree):
    """every unit has its test: tests/unit/**/<name>_test.cpp, or a test that includes its header"""
    tests = {os.path.basename(path) for path in tree.texts if path.startswith("tests/unit/")}
    tested = "".join(text for path, text in tree.texts.items() if path.startswith("tests/"))
    for path in tree.cpp((".cpp",)):
        if layer_of(path) is None or any(matches(p, path) for p, _ in rules.TESTED_ELSEWHERE):
            continue
        names = unit_names(tree, path)
        header = f'#include "{os.path.dirname(path)}/{names[-1]}.h"'
        if header not in tested and not tests & {f"{name}_test.cpp" for name in names}:
            name = os.path.basename(path)[:-4]
            yield Finding(path, 1, "test-mirror", f"no {name}_test.cpp under tests/unit")


def check_built(tree):
    """every .cpp is named in a CMakeLists.txt: nothing is left out silently"""
    lists = {os.path.dirname(path): text for path, text in tree.texts.items()
             if os.path.basename(path) == "CMakeLists.txt"}
    for path in tree.cpp((".cpp",)):
        if path in rules.BUILT_BY_FUNCTIONS:
            continue
        above = [str(folder) for folder in pathlib.PurePosixPath(path).parents]
        named = any(_names(lists.get("" if folder == "." else folder, ""),
                           path if folder == "." else path[len(folder) + 1:]) for folder in above)
        if not named and not any(f"}}/{path}" in text for text in lists.values()):
            yield Finding(path, 1, "built", "no CMakeLists.txt names it")


def _names(cmake, path):
    return re.search(rf"(^|[\s(\"]){re.escape(path)}(?=[\s)\"]|$)", cmake, re.M) is not None


def check_sizes(tree):
    """files and functions stay small; large files are data with a reason"""
    for path, size in tree.sizes.items():
        if size > rules.MAX_FILE_BYTES and path not in rules.LARGE_FILES:
            yield Finding(path, 1, "size", f"{size} bytes; more than {rules.MAX_FILE_BYTES} needs "
                          "a reason in tests/lint_rules.py LARGE_FILES")
    for path in tree.cpp():
        lines = tree.texts[path].count("\n")
        if lines > rules.MAX_FILE_LINES:
            yield Finding(path, 1, "size", f"{lines} lines; more than {rules.MAX_FILE_LINES} "
                          "hardly hold one idea", False)
        for first, last, name in text_of.functions(tree.texts[path]):
            if last - first + 1 > rules.MAX_FUNCTION_LINES:
                yield Finding(path, first, "size", f"{name} has {last - first + 1} lines; more "
                              f"than {rules.MAX_FUNCTION_LINES} do not fit a screen", False)


def check_format(tree, root=ROOT, fix=False):
    """clang-format (.clang-format) would change nothing"""
    paths = tree.cpp()
    if not paths:
        return
    mode = ["-i"] if fix else ["--dry-run", "-Werror"]
    result = subprocess.run(["clang-format", "--style=file", *mode, *paths], cwd=root,
                            capture_output=True, text=True, check=False)
    seen = set()
    for match in re.finditer(r"^(.*?):(\d+):\d+: error: code should be clang-formatted",
                             result.stderr, re.M):
        if match.group(1) not in seen:
            seen.add(match.group(1))
            yield Finding(match.group(1), int(match.group(2)), "format", "run `make format`")
    if result.returncode != 0 and not seen:
        yield Finding(".clang-format", 1, "format", result.stderr.strip().split("\n")[0])


def check_commits(tree, root=ROOT, after=rules.COMMITS_AFTER):
    """the subject of a new commit has at most 72 characters; merges are not judged"""
    del tree  # what is checked is the history

    def git(*arguments):
        return subprocess.run(["git", *arguments], cwd=root, capture_output=True, text=True, check=False)

    try:
        found = git("merge-base", "--is-ancestor", after, "HEAD").returncode == 0
    except FileNotFoundError:
        found = False
    if not found:
        yield Finding(".git", 1, "commits", f"not checked: there is no git, or no commit {after[:8]} in this clone", False)
        return
    for line in git("log", "--no-merges", "--format=%h %s", f"{after}..HEAD").stdout.splitlines():
        name, _, subject = line.partition(" ")
        if len(subject) > rules.MAX_SUBJECT:
            yield Finding(".git", 1, "commits", f"the subject of {name} has {len(subject)} characters; at most "
                          f"{rules.MAX_SUBJECT}: one commit, one change")


def check_own_header_first(tree):
    """x.cpp includes x.h before anything else, so building it proves that x.h stands alone"""
    for path in tree.cpp((".cpp",)):
        own = path[:-4] + ".h"
        first = next((target for _, target, _ in tree.includes(path)), None)
        if own in tree.texts and first != own:
            yield Finding(path, 1, "own-header-first", f'the first include must be "{own}"')


def check_standard_includes(tree):
    """a header names the standard header of each name that it uses, itself or by what it includes"""
    for path in tree.cpp((".h",)):
        included = {target for name in _closure(tree, path)
                    for _, target, quoted in tree.includes(name) if not quoted}
        for number, line in enumerate(tree.code(path).split("\n"), 1):
            for name in re.findall(r"\bstd::(\w+)", line):
                providers = rules.PROVIDERS.get(name, ())
                if providers and not included.intersection(providers):
                    yield Finding(path, number, "standard-include", f"std::{name} needs <{providers[0]}>")


def _precompile(compiler, header, text):
    """Options that begin a compilation with `text`, from the file `header`, which is made if need be; CalledProcessError."""
    header.parent.mkdir(parents=True, exist_ok=True)
    made = header.with_suffix(".h.gch")
    if not made.exists() or header.read_text() != text:
        header.write_text(text)
        subprocess.run([*compiler, "-x", "c++-header", header, "-o", made], check=True, capture_output=True)
    return ["-include", str(header), "-Winvalid-pch"]


def _includes_come_first(tree, path):
    """No line of code stands before an #include of a file of this project."""
    quoted = [line for line, _, quoted in tree.includes(path) if quoted]
    before = tree.code(path).split("\n")[:max(quoted, default=0)]
    return not any(line.strip() and not line.lstrip().startswith("#") for line in before)


# How often a header is parsed in the time in which it is precompiled.
PRECOMPILING_COSTS = 8


def contexts_of(tree, headers):
    """{header: one that it includes, directly or not}: few headers, which are dear to parse and which many include.

    A header whose includes come first sees the same names whether or not one of them was parsed
    earlier, and each of them is judged by itself; so it may be compiled behind a precompiled one.
    """
    closures = {path: set(_closure(tree, path)) for path in tree.cpp((".h",))}
    size = {path: sum(len(tree.texts[name]) for name in closure) for path, closure in closures.items()}
    users = {path: [] for path in closures}
    for header in headers:
        for path in closures[header] if _includes_come_first(tree, header) else ():
            if path in users and header not in closures[path]:
                users[path].append(header)
    chosen = {}

    def saved(path):
        return sum(max(0, size[path] - size.get(chosen.get(header), 0)) for header in users[path])
    while users:
        best = max(sorted(users), key=saved)
        if saved(best) <= PRECOMPILING_COSTS * size[best]:
            break
        for header in users.pop(best):
            if size[best] > size.get(chosen.get(header), 0):
                chosen[header] = best
    return chosen


def check_headers_alone(tree, root=ROOT, cache=None):
    """every header compiles when it is the only include, beside the standard library (standard_includes)"""
    cache = cache or CACHE / "headers"
    cache.mkdir(parents=True, exist_ok=True)
    flags = ["-std=c++20", "-Wall", "-Wextra", "-Wshadow", "-Werror"]
    version = subprocess.run(["g++", "--version"], capture_output=True, text=True,
                             check=True).stdout.split("\n")[0]
    generated = next(root.glob("build/*/node/wire/ostraka.capnp.h"), None)
    compiler = ["g++", *flags, f"-I{root}", *([f"-I{generated.parent}"] if generated else [])]

    def mark_of(path):
        parts = [part for name in _closure(tree, path) for part in (name, tree.texts[name])]
        return cache / hashlib.sha256("\0".join([version, *flags, *rules.PRECOMPILED, *parts]).encode()).hexdigest()

    # A header of a source that is never compiled in a batch is proven by that source, which opens with it. Generated
    # headers are there only after a build.
    proven_by_build = {next((target for _, target, _ in tree.includes(path)), None)
                       for path in tree.cpp((".cpp",)) if matches(rules.NEVER_IN_A_BATCH, path)}
    made = {path for path in tree.cpp((".h",)) for _, target, quoted in tree.includes(path)
            if quoted and target == "ostraka.capnp.h"}
    marks = {path: mark_of(path) for path in tree.cpp((".h",))
             if path not in proven_by_build and (generated or not made.intersection(_closure(tree, path)))}
    unproven = [path for path, mark in marks.items() if not mark.exists()]
    if not unproven:
        return
    common = f"// for {version}\n" + "".join(f"#include <{name}>\n" for name in rules.PRECOMPILED)
    plain = _precompile(compiler, CACHE / "common" / "common.h", common)
    contexts = contexts_of(tree, unproven)
    shared = sorted(set(contexts.values()))
    with (tempfile.TemporaryDirectory(dir=cache.parent) as folder,
          concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count() or 2) as pool):
        def precompiled(number, path):
            try:
                return _precompile(compiler, pathlib.Path(folder) / f"{number}.h", common + f'#include "{path}"\n')
            except subprocess.CalledProcessError:
                return plain  # the check of `path` itself reports its errors
        behind = dict(zip(shared, pool.map(precompiled, range(len(shared)), shared)))

        def check(path):
            before = behind.get(contexts.get(path), plain)
            # The second include shows that #pragma once works.
            done = subprocess.run([*compiler, *before, "-fsyntax-only", "-x", "c++", "-"],
                                  input=f'#include "{path}"\n' * 2, check=False, capture_output=True, text=True)
            if done.returncode == 0:
                marks[path].touch()
                return None
            errors = [line for line in done.stderr.split("\n") if "error" in line] + [done.stderr]
            return Finding(path, 1, "header-alone", f"does not compile alone: {errors[0].strip()}")
        yield from filter(None, pool.map(check, unproven))


def _closure(tree, path):
    """`path` and all project files that it includes, directly or not."""
    seen, waiting = set(), [path]
    while waiting:
        current = waiting.pop()
        if current in seen or current not in tree.texts:
            continue
        seen.add(current)
        waiting += [target for _, target, quoted in tree.includes(current) if quoted]
    return sorted(seen)


FAST_CHECKS = [check_layers, check_third_party, check_banned, check_marks, check_pragma_once, check_planted, check_planted_rows, check_handlers, check_attacks,
               check_readmes, check_test_mirror, check_built, check_own_header_first, check_sizes,
               check_collaborators, check_sentences, check_mutual_calls, check_contract, check_promises,
               check_one_journal, check_removals, check_one_transition, check_fingerprint,
               check_named_paths, check_room_layers, check_standard_includes, check_commits, check_format]
SLOW_CHECKS = [check_headers_alone]


judged = None  # the tree, in a process of the pool


def _judge(tree):
    global judged
    judged = tree


def _findings_of(check):
    return list(check(judged))


def missing_tools(fast):
    needed = ["git", "clang-format"] + ([] if fast else ["g++"])
    return [tool for tool in needed if shutil.which(tool) is None]


def main(arguments):
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--fast", action="store_true", help="leave out what compiles")
    parser.add_argument("--format", action="store_true", help="reformat instead of checking")
    parser.add_argument("--rules", action="store_true", help="list the checks")
    options = parser.parse_args(arguments)
    if options.rules:
        for check in FAST_CHECKS + SLOW_CHECKS:
            print(f"{check.__name__.removeprefix('check_')}: {check.__doc__}")
        return 0
    missing = missing_tools(options.fast or options.format)
    if missing:
        print(f"lint: {', '.join(missing)} not found; run `make deps`", file=sys.stderr)
        return 3

    tree = Tree.from_git(ROOT)
    if options.format:
        findings = list(check_format(tree, fix=True))
    else:
        checks = FAST_CHECKS + ([] if options.fast else SLOW_CHECKS)
        # By process, each of which is forked with the tree.
        with multiprocessing.get_context("fork").Pool(initializer=_judge, initargs=(tree,)) as pool:
            findings = [finding for found in pool.imap(_findings_of, checks) for finding in found]
    for finding in findings:
        print(finding)
    broken = sum(finding.fatal for finding in findings)
    print(f"lint: {len(tree.cpp())} files, {broken} broken rules, "
          f"{len(findings) - broken} warnings")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
