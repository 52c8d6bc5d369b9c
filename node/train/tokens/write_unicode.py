#!/usr/bin/env python3
"""Writes unicode_classes.inc, unicode_composed.inc and unicode_replaced.inc.

    pip install unicodedata2==16.0.0 && python3 node/train/tokens/write_unicode.py

Ids must be those of the library `tokenizers`, so the tables have its versions of Unicode (0.23.3): its regular expressions know the
letters, numbers and spaces of 16.0, its normalizer the canonical forms of 9.0. A class and a form of a character never change once it
is assigned, so 9.0 is 16.0 without AFTER_9. tests/python/tokenizers_test.py compares every code point.
"""
import subprocess
from pathlib import Path

import unicodedata2 as unicode

FOLDER = Path(__file__).resolve().parent
HANGUL = range(0xAC00, 0xD7A4)  # composed by a formula
# Characters with a canonical form or a combining class that came after Unicode 9.0: first and last of each stretch.
AFTER_9 = """7FD 7FD 897 89F 8CA 8D3 9FE 9FE C3C C3C D3B D3C EBA EBA 1715 1715 1ABF 1ACE 1DF6 1DFA A82C A82C 105C9 105C9
105E4 105E4 10D24 10D27 10D69 10D6D 10EAB 10EAC 10EFD 10EFF 10F46 10F50 10F82 10F85 11070 11070 1133B 1133B 11383 11383
11385 11385 1138E 1138E 11391 11391 113C5 113C5 113C7 113C8 113CE 113D0 1145E 1145E 11839 1183A 11938 11938 1193D 1193E
11943 11943 119E0 119E0 11A34 11A34 11A47 11A47 11A99 11A99 11D42 11D42 11D44 11D45 11D97 11D97 11F41 11F42 16121 16128
1612F 1612F 16D68 16D6A 16FF0 16FF1 1E08F 1E08F 1E130 1E136 1E2AE 1E2AE 1E2EC 1E2EF 1E4EC 1E4EF 1E5EE 1E5EF"""
# The property White_Space, which unicodedata does not have.
SPACES = [*range(0x9, 0xE), 0x20, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000]


def characters():
    return [code for code in range(0x110000) if not 0xD800 <= code < 0xE000]


def ranges(values):
    """(first, last, value) of stretches of equal values, from (code, value)."""
    found = []
    for code, value in values:
        if found and found[-1][1] == code - 1 and found[-1][2] == value:
            found[-1][1] = code
        else:
            found.append([code, code, value])
    return found


def array(comment, kind, name, rows):
    text = ", ".join("{" + ", ".join(f"0x{number:X}" for number in row) + "}" for row in rows)
    return f"// {comment}\nconstexpr {kind} {name}[] = {{{text}}};\n"


def write(name, text):
    head = f"// Written by write_unicode.py, from Unicode {unicode.unidata_version}.\n"
    formatted = subprocess.run(["clang-format", f"--assume-filename={FOLDER / name}"], input=head + text, text=True,
                               stdout=subprocess.PIPE, check=True).stdout
    (FOLDER / name).write_text(formatted)


def main():
    assert unicode.unidata_version == "16.0.0"
    classes = [("Categories Lu, Ll, Lt, Lm, Lo.", "kLetters", lambda code: unicode.category(chr(code))[0] == "L"),
               ("Categories Nd, Nl, No.", "kNumbers", lambda code: unicode.category(chr(code))[0] == "N"),
               ("White_Space.", "kSpaces", lambda code: code in SPACES)]
    write("unicode_classes.inc", "\n".join(
        array(comment, "CodeRange", name, [row[:2] for row in ranges((code, 1) for code in characters() if test(code))])
        for comment, name, test in classes))

    bounds = [int(word, 16) for word in AFTER_9.split()]
    later = {code for first, last in zip(bounds[::2], bounds[1::2]) for code in range(first, last + 1)}
    known = [code for code in characters() if code not in later and code not in HANGUL]
    combining = ranges((code, unicode.combining(chr(code))) for code in known if unicode.combining(chr(code)))
    forms = [(code, *(int(part, 16) for part in unicode.decomposition(chr(code)).split())) for code in known
             if unicode.decomposition(chr(code)) and not unicode.decomposition(chr(code)).startswith("<")]
    pairs = [form for form in forms if len(form) == 3]
    composed = [form for form in pairs if unicode.normalize("NFC", chr(form[0])) == chr(form[0])]
    parted = [form for form in pairs if form not in composed]
    single = [form for form in forms if len(form) == 2]
    assert len(pairs) + len(single) == len(forms)
    assert not {second for _, _, second in pairs} & {form[0] for form in forms}
    write("unicode_composed.inc", "\n".join([
        "// Those of Unicode 9.0.\n",
        array("Canonical combining classes above 0.", "CombiningRange", "kCombining", combining),
        array("A character and the two that it is composed of.", "CanonicalPair", "kComposed", composed),
        array("A character that is written as these two.", "CanonicalPair", "kParted", parted)]))
    write("unicode_replaced.inc", "// Those of Unicode 9.0.\n\n"
          + array("A character that is written as another one.", "CanonicalSingle", "kReplaced", single))


if __name__ == "__main__":
    main()
