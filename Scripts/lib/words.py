#!/usr/bin/env python3
"""Checks that comments name the actor and the thing instead of saying "who" and "what".

Fails if more than 3 % of a module's comment lines, and more than three, have one of the words below. Questions and code
between backticks do not count. A module is a folder in one of FOLDER, which are those of Sources, Tests, Benchmarks,
Fuzzing and Examples unless others are given; linked folders and files count only in their own place.

    Scripts/lib/words.py [--words] [FOLDER...]     the share of each module; --words also prints the lines
"""

import pathlib
import re
import sys

from sources import FOLDERS, files

LIMIT = 0.03
FEW = 3
WORDS = re.compile(r"\b(who|whom|whose|whoever|what|whatever|nobody|somebody|anybody|everybody|lest)\b", re.IGNORECASE)
COMMENT = re.compile(r"^\s*//+(.*)|\s//+\s(.*)")
LEFT_OUT = re.compile(r"`[^`]*`|\b(?:what|who)\b[^.]*\?", re.IGNORECASE)


def comments(module):
    """Each comment line of a module's sources, with its path and number."""
    for path in files(module, ".swift", ".c", ".h", ".m"):
        for number, line in enumerate(path.read_text().splitlines(), 1):
            if found := COMMENT.search(line):
                yield path, number, found[1] or found[2] or ""


def main():
    shows = "--words" in sys.argv[1:]
    folders = [argument for argument in sys.argv[1:] if argument != "--words"]
    modules = [path for folder in folders or FOLDERS for path in sorted(pathlib.Path(folder).iterdir())]
    failed = False
    for module in modules:
        if not module.is_dir() or module.is_symlink():
            continue
        lines = list(comments(module))
        found = [(path, number, text) for path, number, text in lines if WORDS.search(LEFT_OUT.sub("", text))]
        share = len(found) / max(len(lines), 1)
        if shows:
            for path, number, text in found:
                print(f"{path}:{number}:{text}")
            print(f"{module}: {len(found)} of {len(lines)} comment lines, {share:.1%}")
        if share > LIMIT and len(found) > FEW:
            failed = True
            print(f"error: {module}: {share:.1%} of the comment lines say who or what instead of a noun; "
                  f"at most {LIMIT:.0%} may (Scripts/lint --words)")
    return 1 if failed else 0


sys.exit(main())
