#!/usr/bin/env python3
"""Checks that comments name the actor and the thing instead of saying "who" and "what", and use English idioms.

Fails if more than 0.7 % of a module's comment lines, and more than three, have one of the words below, or more of 1,000
than a phrase allows, and more than three, have one of the phrases that betray a translation. Questions and code between backticks do
not count. A module is a folder in one of FOLDER, which are those of Sources, Tests, Benchmarks, Fuzzing and Examples
unless others are given; linked folders and files count only in their own place.

    Scripts/lib/words.py [--words] [FOLDER...]     the share of each module; --words also prints the lines
"""

import pathlib
import re
import sys

from sources import FOLDERS, files

LIMIT = 0.007
FEW = 3
WORDS = re.compile(r"\b(who|whom|whoever|what|whatever|nobody|somebody|anybody|everybody|lest)\b", re.IGNORECASE)
# Each with a better one, and the most of 1,000 lines that may have it.
PHRASES = {
    re.compile(r"\b(?<!written )(?<!write )behind\b(?! (?:a|the|one) (?:lock|proxy|buffer))", re.IGNORECASE): ("after", 3),
    re.compile(r"\banew\b", re.IGNORECASE): ("again, or a verb with re-", 1),
    re.compile(r"\bmeanwhile\b", re.IGNORECASE): ("in the meantime, or nothing", 1),
    re.compile(r"\b(?:g[ai]ve[ns]?|giving) up\b", re.IGNORECASE): ("evict, drop, close, abandon", 2),
    re.compile(r"(?<!there )\b(?:is|are) none\b", re.IGNORECASE): ("is not one, is invalid", 1),
    re.compile(r"\bany more\b", re.IGNORECASE): ("no longer", 1),
    re.compile(r"\b(?:ones|those) (?:that|who|which)\b", re.IGNORECASE): ("the noun", 5),
    re.compile(r"(?<!there )\b(?:is|are) no (?!longer|more|other)[a-z]", re.IGNORECASE): ("is not a", 3),
}
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
                  f"at most {LIMIT:.1%} may (Scripts/lint --words)")
        for phrase, (better, most) in PHRASES.items():
            found = [(path, number, text) for path, number, text in lines if phrase.search(LEFT_OUT.sub("", text))]
            if len(found) <= max(FEW, most * len(lines) / 1_000):
                continue
            failed = True
            for path, number, text in found if shows else found[:FEW]:
                print(f"{path}:{number}:{text}")
            print(f"error: {module}: {len(found)} of {len(lines)} comment lines have {phrase.pattern}; say: {better}")
    return 1 if failed else 0


sys.exit(main())
