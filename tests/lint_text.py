"""C++ text as the linter sees it: without comments and strings, and cut into functions."""

import re
from typing import NamedTuple

_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/'                                     # comments
    r'|(?:u8|[uUL])?R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"'   # raw strings
    r'|(?:u8|[uUL])?"(?:\\.|[^"\\\n])*"'                      # strings
    r"|(?<![0-9a-fA-F])'(?:\\.|[^'\\\n])+'",                  # characters, not digit separators
    re.S,
)
_INCLUDE_LINE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"[^"]*"', re.M)


def _blank(text):
    """Spaces of the same shape, so that lines and columns stay where they were."""
    return re.sub(r"[^\n]", " ", text)


def strip(text, keep_strings=False):
    """`text` with comments (and strings, unless kept) blanked; lines stay where they were."""
    includes = {match.start(): match.end() for match in _INCLUDE_LINE.finditer(text)}
    ends = sorted(includes.items())

    def replace(match):
        token = match.group(0)
        if token.startswith(("//", "/*")):
            return _blank(token)
        if keep_strings or any(start <= match.start() < end for start, end in ends):
            return token
        return token[0] + _blank(token[1:-1]) + token[-1]

    return _TOKEN.sub(replace, text)


def comments(text):
    """(line, comment) of each comment."""
    for match in _TOKEN.finditer(text):
        if match.group(0).startswith(("//", "/*")):
            first = text.count("\n", 0, match.start()) + 1
            for offset, line in enumerate(match.group(0).split("\n")):
                yield first + offset, line


def includes(text):
    """(line, target, is_quoted) of each #include."""
    pattern = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.M)
    for match in pattern.finditer(strip(text)):
        yield text.count("\n", 0, match.start()) + 1, match.group(2), match.group(1) == '"'


_NOT_A_FUNCTION = re.compile(r"\b(namespace|class|struct|union|enum|extern)\b[^()]*$")


def functions(text):
    """(first line, last line, name) of each function body at namespace or class scope.

    A heuristic, good enough to warn: a brace whose header has a parenthesis opens a function,
    and so does the brace after a constructor's initialisers.
    """
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: _blank(m.group(0)), strip(text), flags=re.M)
    depth_inside = 0  # braces open inside a function body
    header = ""
    header_line = start_line = 1
    name = ""
    line = 1
    index = 0
    while index < len(code):
        char = code[index]
        if char == "\n":
            line += 1
        if depth_inside:
            depth_inside += (char == "{") - (char == "}")
            if depth_inside == 0:
                rest = code[index + 1:].lstrip()
                if rest[:1] in (",", "{"):  # it was an initialiser: the body is still to come
                    header += "{}"
                else:
                    yield start_line, line, name
                    header = ""
        elif char == "{":
            if "(" in header and not _NOT_A_FUNCTION.search(header):
                depth_inside = 1
                start_line = header_line
                match = re.search(r"([\w:~]+)\s*\(", header)
                name = match.group(1) if match else "?"
            else:
                header = ""
        elif char in ";}":
            header = ""
        else:
            if not header.strip() and not char.isspace():
                header_line = line
                header = ""
            header += char
        index += 1


# `Result (*name)(arguments)`: data, though it has parentheses.
_FUNCTION_POINTER = re.compile(r"(\s*[\w:<>,&*\s]+)\(\s*\*\s*(?:const\s+)?(\w+)\s*\)\s*\(")


class Class(NamedTuple):
    line: int
    name: str
    fields: list  # (line, name, type)
    functions: list  # (line, name), overloads too
    bodies: dict  # function -> its body; "" if it is only declared


def classes(text):
    """The classes and structs of a file, nested ones too, with data members and functions.

    A heuristic for code as clang-format leaves it: a statement of a class body without a parenthesis
    outside template arguments declares data.
    """
    code = re.sub(r"^[ \t]*#(?:[^\n\\]|\\.|\\\n)*", lambda m: _blank(m.group(0)), strip(text), flags=re.M)
    for match in re.finditer(r"(?<!enum )\b(?:class|struct)\s+([\w:]+)[^;{}()<>]*(?:<[^;{}]*>)?[^;{}()]*\{", code):
        fields, functions, bodies = [], [], {}
        end = _after_brace(code, match.end() - 1)
        for start, statement, body in _statements(code, match.end(), end - 1):
            line = code.count("\n", 0, start) + 1
            statement = re.sub(r"\balignas\s*\([^()]*\)", " ", statement)
            pointer = _FUNCTION_POINTER.match(_without_templates(statement))
            if pointer:
                fields.append((line, pointer.group(2), pointer.group(1).strip()))
                continue
            called = re.search(r"([\w~]+)\s*\(", _outside_templates(statement))
            if called or "operator" in statement:
                name = called.group(1) if called else "operator"
                bodies[name] = body
                if not re.match(r"\s*(friend|using|static_assert)\b", statement):
                    functions.append((line, name))
            else:
                fields += [(line, name, kind) for name, kind in _declared(statement)]
        yield Class(code.count("\n", 0, match.start()) + 1, match.group(1).split("::")[-1], fields,
                    functions, bodies)


def body_of(text, name):
    """The body of the function `name` (as `Class::Function`) that a source file defines, or None."""
    code = strip(text)
    match = re.search(rf"\b{name}\([^;{{}}]*\{{", code)
    return code[match.end():_after_brace(code, match.end() - 1)] if match else None


def _after_brace(code, index):
    depth = 0
    while index < len(code):
        depth += (code[index] == "{") - (code[index] == "}")
        index += 1
        if depth == 0:
            break
    return index


def _statements(code, index, end):
    """(offset, statement, body) of each declaration between two offsets of a class body."""
    statement, start, body = "", index, ""
    while index < end:
        char = code[index]
        if char == "{":
            after = _after_brace(code, index)
            function = "(" in _outside_templates(statement)
            inside = code[index + 1:after - 1]
            index = after
            statement += " {} "
            if function:
                body = inside
                rest = code[index:end].lstrip()
                if rest[:1] not in (",", "{"):  # else it was an initialiser of a constructor
                    yield start, statement, body
                    statement, body = "", ""
            continue
        index += 1
        if char == ";":
            yield start, statement, body
            statement, body = "", ""
        elif char == ":" and re.fullmatch(r"\s*(public|private|protected)\s*", statement):
            statement = ""
        else:
            if not statement.strip():
                statement, start = "", index - 1
            statement += char


def _outside_templates(statement):
    """`statement` up to its first initialiser, without what stands between < and >."""
    head = statement if "operator" in statement else re.split(r"(?<![<>=!])=(?!=)", statement)[0]
    return _without_templates(head)


def _without_templates(statement):
    while True:
        shorter = re.sub(r"<[^<>]*>", "", statement)
        if shorter == statement:
            return statement
        statement = shorter


def _declared(statement):
    """(name, type) of each data member that a statement without a parameter list declares."""
    flat = " ".join(_without_templates(statement.replace("{}", " ")).split())
    if not flat or re.match(r"(using|typedef|friend|enum|class|struct|template|static)\b", flat):
        return
    first, *others = [declarator.split("=")[0].strip() for declarator in flat.split(",")]
    match = re.fullmatch(r"(.*[\s*&])(\w+)\s*(\[.*\])?", first)
    if match is None:
        return
    for name in [match.group(2), *(other.strip(" *&") for other in others)]:
        if re.fullmatch(r"\w+", name):  # else it is within an initialiser
            yield name, match.group(1).strip()
