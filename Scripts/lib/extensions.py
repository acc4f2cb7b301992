#!/usr/bin/env python3
"""Checks that a file extends only the type that it is named after.

`Type.swift` and `Type+Topic.swift` may extend `Type`, types nested in it, types that the file itself declares, and
types of other modules. A line "path: Type" of extensions-elsewhere.txt makes an error a warning.

    Scripts/lib/extensions.py [FOLDER]      Sources, unless another folder is given
"""

import pathlib
import re
import sys

ACCESS = r"(?:(?:public|package|internal|fileprivate|private)\s+)?"
EXTENSION = re.compile(rf"^\s*(?:@\w+(?:\([^)]*\))?\s+)*{ACCESS}extension\s+([\w.]+)")
KIND = r"(?:class|struct|enum|actor|protocol|typealias)"
DECLARATION = re.compile(rf"^[^/\"]*?\b{KIND}\s+(?!func\b|var\b|let\b|subscript\b)(\w+)")
EXCEPTIONS = pathlib.Path(__file__).with_name("extensions-elsewhere.txt")


def matches(pattern, lines):
    """The number and the name of each line that the pattern fits."""
    return [(number, found[1]) for number, line in enumerate(lines, 1) if (found := pattern.match(line))]


def violations(module):
    """The path, line and extended type of each extension in a module's folder that belongs in another file."""
    sources = {path: path.read_text().splitlines() for path in sorted(module.rglob("*.swift"))}
    declared = {path: {name for _, name in matches(DECLARATION, lines)} for path, lines in sources.items()}
    own = set().union(*declared.values())
    for path, lines in sources.items():
        named = path.stem.split("+")[0].split(".")
        for number, extended in matches(EXTENSION, lines):
            parts = extended.split(".")
            if parts[-1] in declared[path] or parts[:len(named)] == named or parts[-len(named):] == named:
                continue
            if parts[0] in own or parts[-1] in own and parts[0] == module.name:
                yield path, number, extended


def main():
    root = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else "Sources")
    excepted = set()
    if EXCEPTIONS.exists():
        excepted = {line.strip() for line in EXCEPTIONS.read_text().splitlines() if line.strip() and line[0] != "#"}
    failed, unused = 0, set(excepted)
    for module in sorted(path for path in root.iterdir() if path.is_dir()):
        for path, number, extended in violations(module):
            entry = f"{path}: {extended}"
            unused.discard(entry)
            kind = "warning" if entry in excepted else "error"
            failed += kind == "error"
            print(f"{path}:{number}: {kind}: extends {extended}; that belongs in a file named after it")
    for entry in sorted(unused):
        print(f"warning: {EXCEPTIONS.name} names “{entry}”, which is no violation any more")
    return 1 if failed else 0


sys.exit(main())
