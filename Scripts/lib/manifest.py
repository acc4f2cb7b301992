#!/usr/bin/env python3
"""Checks that each target of Package.swift declares the modules of the package that its sources import, and no others.

A target may also depend on a program, which its tests start.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
ACCESS = r"(?:@\w+|public|package|internal|private|fileprivate)"
IMPORT = re.compile(rf"^ *(?:{ACCESS} +)*import +(?:\w+ +)?(\w+)", re.MULTILINE)


def targets():
    """The targets of Package.swift: each with its kind, its dependencies in the package, and its folder."""
    manifest = (ROOT / "Package.swift").read_text().split("    targets: [", 1)[1]
    for kind, part in re.findall(r"^        \.(\w+)\((.*?)(?=^        \.|\Z)", manifest, re.MULTILINE | re.DOTALL):
        name = re.search(r'name: "([\w-]+)"', part)[1]
        path = re.search(r'path: "([^"]+)"', part)
        found = re.search(r"dependencies: \[(.*?)\]", re.sub(r"\.when\(.*?\)", "", part), re.DOTALL)
        dependencies = set(re.findall(r'"([\w-]+)"', found[1])) if found else set()
        folder = path[1] if path else ("Tests/" if kind == "testTarget" else "Sources/") + name
        yield name, kind, dependencies, ROOT / folder


def main():
    package = list(targets())
    modules = {name for name, kind, _, _ in package if kind != "executableTarget"}
    failures = []
    for name, _, dependencies, folder in package:
        imported = {module for file in folder.rglob("*.swift") for module in IMPORT.findall(file.read_text())} & modules
        for module in sorted(imported - dependencies):
            failures.append(f"Package.swift: {name} imports {module}, and does not declare that")
        for module in sorted((dependencies & modules) - imported):
            failures.append(f"Package.swift: {name} declares {module}, and does not import it")
    print(*failures, sep="\n", end="\n" if failures else "", file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
