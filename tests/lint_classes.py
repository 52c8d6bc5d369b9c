"""Checks of how classes are built: what they need, their contract, state, and the one place for what must have one."""

import collections
import os
import pathlib
import re

import lint_rules as rules
import lint_text as text_of
from lint_tree import Finding, layer_of, unit_names

TABLES = "tests/lint_rules.py"


def _is_fixed(kind):
    """A field of this type is set once: a pointer, a reference or a constant."""
    return kind.endswith(("*", "&")) or kind.startswith("const ")


def _is_state(field, kind):
    return field.endswith("_") and not _is_fixed(kind)


def _unit_of(tree, path):
    """The header, without suffix, that a source belongs to; its own stem if there is none."""
    return f"{os.path.dirname(path)}/{unit_names(tree, path)[-1]}"


def _line(code, offset):
    return code.count("\n", 0, offset) + 1


_POINTER = re.compile(r"[(,]\s*(?:const )?(?:\w+::)*[A-Z]\w*\*\s+(\w+)\s*(?=[,)=])")


def check_collaborators(tree):
    """a function of the protocol takes another class by reference, which says that it is there"""
    used = set()
    for path in tree.cpp((".h",)):
        if not path.startswith(rules.BY_REFERENCE):
            continue
        code = tree.code(path)
        for found in _POINTER.finditer(code):
            row = f"{path} {found[1]}"
            if row in rules.NULLABLE:
                used.add(row)
            else:
                yield Finding(path, _line(code, found.start(1)), "collaborators",
                              f"{found[1]} is a pointer: take a reference, or give the reason in "
                              "tests/lint_rules.py NULLABLE")
    yield from _unused(tree, rules.NULLABLE, used, "collaborators", "NULLABLE")


def check_sentences(tree):
    """a record that all members hash holds no text: a comma would split the run"""
    for path in tree.cpp((".h",)):
        if path not in rules.HASHED_RECORDS:
            continue
        for found in tree.classes(path):
            for line, field, kind in found.fields:
                if kind == "std::string" and field not in rules.SENTENCES:
                    yield Finding(path, line, "sentences", f"{found.name}::{field} is text: hold a code and "
                                  "numbers, from which views make the words")


def _unused(tree, table, used, rule, name):
    """Rows about files of this tree that except nothing any more."""
    for row in sorted(set(table) - used):
        if row.split(" ")[0] in tree.texts:
            yield Finding(TABLES, 1, rule, f"row {row} of {name} is not in use: remove it")


def check_mutual_calls(tree):
    """in a room of the protocol no class includes, through others or not, one that includes it"""
    edges = collections.defaultdict(dict)
    for path in tree.cpp((".h", ".cpp")):
        if not path.startswith(rules.ONE_WAY_ROOMS):
            continue
        unit = _unit_of(tree, path)
        for line, target, quoted in tree.includes(path):
            if not quoted or os.path.dirname(target) != os.path.dirname(path):
                continue
            if target in tree.texts and _unit_of(tree, target) != unit:
                edges[unit].setdefault(_unit_of(tree, target), (path, line))
    for circle in _circles(edges):
        path, line = edges[circle[0]][circle[1]]
        names = " -> ".join(os.path.basename(unit) for unit in circle)
        yield Finding(path, line, "mutual-calls", f"{names}: what is called may not know its caller; "
                      "move what both need below them")


def _circles(edges):
    """One shortest circle through each knot of units that reach each other, its first unit again last."""
    knots = set()
    for start in sorted(edges):
        if start in knots:
            continue
        before, waiting = {}, collections.deque([start])
        while waiting and start not in before:
            unit = waiting.popleft()
            for target in sorted(edges.get(unit, ())):
                if target not in before:
                    before[target] = unit
                    waiting.append(target)
        if start in before:
            circle = [start]
            while len(circle) == 1 or circle[0] != start:
                circle.insert(0, before[circle[0]])
            knots |= set(circle)
            yield circle


_PROMISES = re.compile(r"^// Promises( \([^()]*\)| \[[^][]*\])?:$", re.M)  # perhaps with who CHECKs them
_NUMBERED = re.compile(r"^//   [A-Z]\d+ +\S", re.M)


def check_contract(tree):
    """a header with a stateful class states numbered promises, and its files CHECK them"""
    used = set()
    for path in tree.cpp((".h",)):
        if not path.startswith(rules.CONTRACTED):
            continue
        stateful = [found for found in tree.classes(path) if found.name != "Impl"
                    and any(_is_state(field, kind) for _, field, kind in found.fields)]
        if not stateful:  # an Impl has the contract of the class that it implements
            continue
        missing = []
        if not _PROMISES.search(tree.texts[path]) or not _NUMBERED.search(tree.texts[path]):
            missing.append("state its invariants in the header, numbered, under `Promises:`")
        checked = any(re.search("OSTRAKA_CHECK|CheckInvariants", tree.code(part))
                      for part in _files_of(tree, path, stateful))
        if not checked:
            if path in rules.NOTHING_TO_CHECK:
                used.add(path)
            else:
                missing.append("CHECK its invariants (CheckInvariants, or at the end of each mutation)")
        if missing:
            yield Finding(path, stateful[0].line, "contract", f"{stateful[0].name} is stateful: "
                          + "; ".join(missing))
    yield from _unused(tree, rules.NOTHING_TO_CHECK, used, "contract", "NOTHING_TO_CHECK")


_ID = re.compile(r"//   [A-Z]\d+ +\S")                      # a promise begins
_UNDER = re.compile(r"// {6,}\S")                           # and goes on, indented under its text
_FOLDED = re.compile(r"[^\w\s(,] [A-Z]\d+ +[A-Z]\w* \w")     # "... is over. R3 Only keys": another one


def check_promises(tree):
    """a promise begins its line, and its other lines are indented under it"""
    for path in tree.cpp((".h",)):
        if not path.startswith(rules.CONTRACTED):
            continue
        inside = False
        for number, line in enumerate(tree.texts[path].split("\n"), 1):
            if _PROMISES.match(line):
                inside = True
            elif inside and not line.startswith("//  "):  # the next paragraph
                inside = False
            elif inside and (not (_ID.match(line) or _UNDER.match(line)) or _FOLDED.search(line)):
                yield Finding(path, number, "promises", "a line that is too long was folded into the "
                              "next one: begin each promise on its own line, in lines of at most 100 "
                              "columns that clang-format leaves alone")


def _files_of(tree, header, classes):
    """The files of a header's unit, and those of the Impl of its classes."""
    unit = header[:-2]
    impls = [f"{found.name}::Impl " for found in classes if "Impl" in tree.code(header)]
    return [path for path in tree.cpp((".h", ".cpp"))
            if not path.startswith("tests/")
            and (_unit_of(tree, path) == unit or any(name in tree.code(path) for name in impls))]


def check_one_journal(tree):
    """a Store is made in the journal alone, which gives each a number and keeps the order"""
    made = re.compile(r"(?<!struct )\bStore\s*(?:<[^<>;{}]*>)?\s*\{|\bStore\s+\w+\s*[;={]")
    yield from _only_in(tree, rules.STORE_MAKERS, made, "one-journal", "makes a Store by hand; "
                        "node/protocol/mail/journal.h makes all of a member's Stores")


def check_removals(tree):
    """a fault becomes a removal in one pure function of sealed data, in node/protocol/rules"""
    docket = re.compile(r"\bDocket\b|\bNoteFault\s*\(")
    yield from _only_in(tree, rules.REMOVERS, docket, "removals", "notes faults outside of "
                        "node/protocol/rules: only what is sealed removes a member")
    written = re.compile(r"\bremovals\s*=(?!=)|\bremovals\s*\.\s*(?:push_back|emplace|emplace_back|"
                         r"insert|assign|swap|resize|erase|clear|pop_back)\s*\(")
    for path in tree.cpp():
        if path.startswith("node/protocol/") and not path.startswith(rules.REMOVERS):
            for match in written.finditer(tree.code(path)):
                yield Finding(path, _line(tree.code(path), match.start()), "removals",
                              "writes a block's removals, which BlockOf alone decides")


def _only_in(tree, homes, pattern, rule, message):
    """Findings where the product matches `pattern` outside of `homes`."""
    for path in tree.cpp():
        if layer_of(path) is None or path.startswith(homes):
            continue
        for match in pattern.finditer(tree.code(path)):
            yield Finding(path, _line(tree.code(path), match.start()), rule, message)


def check_one_transition(tree):
    """a stage or phase changes in one function, which CHECKs that the new one may follow"""
    for path in tree.cpp((".h", ".cpp")):
        if layer_of(path) is None:
            continue
        for found in tree.classes(path):
            for _, field, kind in found.fields:
                if kind.split("::")[-1] in rules.STAGES and _is_state(field, kind):
                    yield from _changes_of(tree, path, found, field)


def _changes_of(tree, path, found, field):
    changed = re.compile(rf"\b{field}\s*=(?!=)|\b(?:exchange|swap)\s*\(\s*{field}\b|"
                         rf"(?:\+\+|--|[(,=]\s*&)\s*{field}\b")
    makers = set()
    for part in tree.cpp((".h", ".cpp")):
        if _unit_of(tree, part) != _unit_of(tree, path):
            continue
        code = tree.code(part)
        lines = code.split("\n")
        for match in changed.finditer(code):
            line = _line(code, match.start())
            body = next(((first, name) for first, last, name in text_of.functions(tree.texts[part])
                         if first <= line <= last), None)
            if body is None:  # its initial value
                continue
            makers.add(body[1])
            if len(makers) > 1:
                yield Finding(part, line, "one-transition", f"{body[1]} is a second function that "
                              f"changes {found.name}::{field}; one does, and CHECKs the table")
            elif "OSTRAKA_CHECK" not in "\n".join(lines[body[0] - 1:line]):
                yield Finding(part, line, "one-transition", f"{body[1]} changes {found.name}::"
                              f"{field} without a CHECK that the new one may follow")


def check_fingerprint(tree):
    """HashInto names every field that can decide; Fingerprint is made by it alone"""
    used = set()
    sources = tree.cpp((".h", ".cpp"))
    for path in sources:
        if not path.startswith(rules.FINGERPRINTED):
            continue
        for found in tree.classes(path):
            if "HashInto" in found.bodies:
                yield from _fields_left_out(tree, path, found, used)
            elif "Fingerprint" in found.bodies and found.name not in rules.WRAPPERS:
                yield Finding(path, found.line, "fingerprint",
                              f"{found.name} has a Fingerprint and no HashInto")
    if any(path.startswith(rules.FINGERPRINTED) for path in sources):
        for row in sorted(set(rules.NOT_HASHED) - used):
            yield Finding(TABLES, 1, "fingerprint",
                          f"row {row} of NOT_HASHED is not in use: remove it")


def _fields_left_out(tree, path, found, used):
    body = found.bodies["HashInto"]
    if not body:
        near = pathlib.PurePath(path).parent.as_posix()  # another room may have a class of that name
        name = f"{found.name}::HashInto"
        sources = sorted((other for other, text in tree.texts.items() if other.endswith(".cpp") and name in text),
                         key=lambda other: not other.startswith(near))
        definitions = (text_of.body_of(tree.texts[other], name) for other in sources)
        body = next(filter(None, definitions), "")
    for line, field, kind in found.fields:
        row = f"{found.name}::{field}"
        if row in rules.NOT_HASHED:
            used.add(row)
        elif not _is_fixed(kind) and not re.search(rf"\b{field}\b", body):
            yield Finding(path, line, "fingerprint", f"HashInto leaves out {row}: feed it, or give "
                          "the reason in tests/lint_rules.py NOT_HASHED")
