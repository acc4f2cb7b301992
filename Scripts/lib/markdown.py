#!/usr/bin/env python3
"""Checks that the files, headings and places in the sources that Markdown files name are there.

Links between the repository's Markdown files, with the headings behind "#". On a page of docs/maps, each source file
between backticks; and in the last column of a table "rule | where", each name in a place such as
`Folder/File.swift`, `name`, which must occur in one of the place's files. In docs/architecture.md, the
table of modules: each in Sources with the arrows of Package.swift, above the modules that it uses. In CONTRIBUTING.md,
the name of each target of the tests. Lines of Swift on a page, those of DocC included, have at most WIDTH columns: more
are cut off at the right where DocC shows the page on a screen of 1,280 points.
"""

import pathlib
import re
import sys

from manifest import targets

ROOT = pathlib.Path(__file__).resolve().parents[2]
FOLDERS = ("docs", "Benchmarks", "Examples")
WIDTH = 76
LINK = re.compile(r"\]\(([^)\s]+)\)|^\[[^]]+\]: (\S+)", re.MULTILINE)
CODE = re.compile(r"`([^`]+)`")
FILE = re.compile(r"[\w+./-]+(\.swift|\.c|\.m|\.h|/)")


def pages():
    """The Markdown files of the repository, without those of packages that it was built with."""
    found = [*ROOT.glob("*.md"), *(page for folder in FOLDERS for page in (ROOT / folder).rglob("*.md"))]
    # DocC checks the links of its own pages.
    return sorted(page for page in found if "/." not in str(page.relative_to(ROOT)) and ".docc/" not in str(page))


def without_code(page):
    """The text of a page without its blocks of code."""
    return re.sub(r"^```.*?^```", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)


def wide_lines(page):
    """The lines of Swift on a page that are too wide."""
    is_swift = False
    for number, line in enumerate(page.read_text().splitlines(), 1):
        if line.startswith("```"):
            is_swift = line == "```swift"
        elif is_swift and len(line) > WIDTH:
            yield f"line {number} has {len(line)} columns of code; at most {WIDTH} are shown"


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


def modules(text):
    """The rows of the table "module | is | uses": the modules that each is about, and the names in its last column."""
    for line in text.partition("| module | is | uses |")[2].lstrip().partition("\n\n")[0].splitlines()[1:]:
        names, _, uses = line.strip("| ").split(" | ")
        yield CODE.findall(names), set(CODE.findall(uses))


def wrong_arrows(text):
    """Each target in Sources whose row of the table does not say what Package.swift does, or is above a user of it."""
    declared = {name: dependencies for name, _, dependencies, folder in targets() if folder.parent.name == "Sources"}
    uses = {}
    for names, used in modules(text):
        for name in names:
            uses[name] = used & declared.keys()
            yield from (f"{name} is below {other}, which it uses" for other in sorted(uses[name] & uses.keys()))
    for name, dependencies in declared.items():
        if uses.get(name) != dependencies:
            yield f"{name} uses {', '.join(sorted(dependencies)) or 'nothing'}"


def unnamed_targets(text):
    """The targets of the tests that a page does not name."""
    for name, _, _, folder in targets():
        if folder.parent.name == "Tests" and f"`{name}`" not in text:
            yield f"it does not name {name}"


def main():
    failures = []
    sources = {str(path.relative_to(ROOT)): path.read_text() for path in (ROOT / "Sources").rglob("*")
               if path.suffix in (".swift", ".c", ".m", ".h")}
    for page in pages():
        found = list(broken_links(page))
        if page.parent.name == "maps":
            found += missing_places(page, sources)
        if page.name == "architecture.md":
            found += wrong_arrows(page.read_text())
        if page.name == "CONTRIBUTING.md":
            found += unnamed_targets(page.read_text())
        failures += [f"{page.relative_to(ROOT)}: {failure}" for failure in found]
    for page in [*pages(), *sorted(ROOT.glob("*/**/*.docc/*.md"))]:
        failures += [f"{page.relative_to(ROOT)}: {failure}" for failure in wide_lines(page)]
    print(*failures, sep="\n", end="\n" if failures else "", file=sys.stderr)
    return 1 if failures else 0


sys.exit(main())
