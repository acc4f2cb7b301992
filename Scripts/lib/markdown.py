#!/usr/bin/env python3
"""Checks that the files, headings and places in the sources that Markdown files name are there.

Links between the repository's Markdown files, with the headings behind "#". On a page of docs/maps, each source file
between backticks; and in the last column of a table "rule | where", each name in a place such as
`Folder/File.swift`, `name`, which must occur in one of the place's files. In CONTRIBUTING.md, each target of
Package.swift, and the arrows of those in Sources.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "Benchmarks", "Examples")
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^]]+\]: (\S+)", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"[\w+./-]+(\.swift|\.c|\.m|\.h|/)")


def pages():
    """The Markdown files of the repository, without those of packages that it was built with."""
    found = [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
    return sorted(page for page in found if "/." not in str(page.relative_to(ROOT)))


def without_code(page):
    """The text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def anchors(page):
    """The fragments that lead to a page's headings, as GitHub makes them."""
    headings = re.findall(r"^#+ (.+)$", without_code(page), re.MULTILINE)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page):
    """The links of a page that lead to no file or no heading."""
    for link in sorted({first or second for first, second in LINK.findall(without_code(page))}):
        name, _, fragment = link.partition("#")
        if re.match(r"[a-z]+:", name):
            continue
        target = page.parent / name if name else page
        if not target.exists():
            yield f"there is no {name}"
        elif fragment and target.suffix == ".md" and fragment not in anchors(target):
            yield f"{name or 'it'} has no heading for #{fragment}"


def is_in(file, path):
    """Whether a place such as `Folder/File.swift` or `Folder/` may mean the source file at a path."""
    return f"/{file}" in f"/{path}" if file.endswith("/") else f"/{path}".endswith(f"/{file}")


def missing_places(page, sources):
    """The source files that a map names, and the names that its tables place in them, which are not there."""
    for line in page.read_text().splitlines():
        is_row = line.startswith("| ")
        named = set(CODE.findall(line.rstrip(" |").rsplit("|", 1)[-1] if is_row else line))
        files = sorted(name for name in named if FILE.fullmatch(name))
        texts = []
        for file in files:
            found = [text for path, text in sources.items() if is_in(file, path)]
            if not found:
                yield f"there is no {file}"
            texts += found
        for name in sorted(named.difference(files)) if is_row and texts else ():
            word = re.compile(rf"\b{re.escape(name.split('(')[0].split('.')[-1])}\b")
            if not any(word.search(text) for text in texts):
                yield f"{name} is not in {' or '.join(files)}"


def targets():
    """The targets of Package.swift, each with its dependencies in the package and whether it is in Sources."""
    manifest = (ROOT / "Package.swift").read_text().split("    targets: [", 1)[1]
    parts = re.split(r"^        \.\w+\(", manifest, flags=re.MULTILINE)
    for part in parts[1:]:
        name = re.search(r'name: "([\w-]+)"', part)[1]
        part = re.sub(r"\.when\(.*?\)", "", part)
        found = re.search(r"dependencies: \[(.*?)\]", part, re.DOTALL)
        yield name, set(re.findall(r'"([\w-]+)"', found[1])) if found else set(), (ROOT / "Sources" / name).exists()


def wrong_arrows():
    """The targets that CONTRIBUTING.md does not name, and its arrows that Package.swift does not have."""
    text = (ROOT / "CONTRIBUTING.md").read_text()
    arrows = {}
    for line in re.findall(r"^.+ → .+$", text, re.MULTILINE):
        names, arrow, others = re.sub(r" \([^)]*\)", "", line).partition("→")
        for name in names.split(","):
            arrows[name.strip()] = {other.strip() for other in others.split(",")} - {"nothing"}
    for name, dependencies, is_source in targets():
        if is_source and arrows.get(name) != dependencies:
            yield f"{name} has the arrows {', '.join(sorted(dependencies)) or 'nothing'}"
        elif not is_source and f"`{name}`" not in text:
            yield f"it does not name {name}"


def main():
    failures = []
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "Sources").rglob("*")
               if path.suffix in (".swift", ".c", ".m", ".h")}
    for page in pages():
        found = list(broken_links(page))
        if page.parent.name == "maps":
            found += missing_places(page, sources)
        if page.name == "CONTRIBUTING.md":
            found += wrong_arrows()
        failures += [f"{page.relative_to(ROOT)}: {failure}" for failure in found]
    print(*failures, sep="\n", end="\n" if failures else "", file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())
