"""C++ text as the linter sees it: without comments and strings, and cut into functions."""

import re

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
