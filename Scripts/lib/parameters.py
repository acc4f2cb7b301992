#!/usr/bin/env python3
"""Checks that no function or initializer takes three parameters or more without a label.

    Scripts/lib/parameters.py [FOLDER...]   in Sources, Tests, Benchmarks, Fuzzing and Examples unless others are given
"""

import re
import sys

from sources import FOLDERS, files

LIMIT = 3
DECLARATION = re.compile(r"\b(?:func\s+([^\s(<]+)|(init)[?!]?)\s*(?:<[^(]*>)?\(")
UNLABELLED = re.compile(r"\s*_\s+\w+\s*:")


def parameters(text, start):
    """What lies between a declaration's parentheses, without what lies in parentheses of its own."""
    depth, parts = 1, []
    for character in text[start:]:
        depth += (character == "(") - (character == ")")
        if depth == 0:
            break
        if depth == 1:
            parts.append(character)
    return "".join(parts)


def main():
    failed = False
    for path in (path for folder in sys.argv[1:] or FOLDERS for path in files(folder, ".swift")):
        text = path.read_text()
        for found in DECLARATION.finditer(text):
            # A closure is passed after the call's parentheses.
            each = (part for part in parameters(text, found.end()).split(",") if "->" not in part)
            count = sum(1 for part in each if UNLABELLED.match(part))
            if count >= LIMIT:
                failed = True
                line = text.count("\n", 0, found.start()) + 1
                print(f"{path}:{line}: {found[1] or found[2]}: {count} parameters without a label; at most {LIMIT - 1}")
    return 1 if failed else 0


sys.exit(main())
