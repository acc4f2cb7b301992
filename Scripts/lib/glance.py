"""The public symbols of the libraries at a glance: a page for each, made of the symbol graphs that DocC takes.

    glance.py [--write] SYMBOLS PAGES LIBRARY …

SYMBOLS has a folder of symbol graphs for each library, PAGES the pages. Without --write, ends with 1 and names the pages
that are not as the sources say, so that each change of what is public shows in a page's diff. Also ends with 1 for public
symbols without a sentence. The default implementation of a requirement is listed only if it says something of its own.
"""

import json
import re
import sys
from pathlib import Path

# Kinds of symbols by their order below a type.
KINDS = [
    "swift.enum.case", "swift.associatedtype", "swift.typealias", "swift.init", "swift.type.property", "swift.property",
    "swift.type.subscript", "swift.subscript", "swift.type.method", "swift.method", "swift.func.op", "swift.func", "swift.macro",
]
TYPES = ["swift.class", "swift.struct", "swift.enum", "swift.protocol", "swift.actor"]


def text_of(fragments):
    return re.sub(r"\s+", " ", "".join(fragment["spelling"] for fragment in fragments)).strip()


def first_sentence(symbol):
    """The first sentence of a symbol's comment, on one line; empty if it has none."""
    words = []
    for line in symbol.get("docComment", {}).get("lines", []):
        text = line["text"].strip()
        if not text or text.startswith("- "):
            break
        words.append(text)
    text = re.sub(r"<doc:([\w-]+)>", r"\1", " ".join(words)).replace("``", "`")
    end = re.search(r"(?<![.\w]\.\w)[.:](?= [A-Z`]|$)|\.$", text)
    return text[: end.start()] + "." if end else text


class Library:
    """The public symbols of one library."""

    def __init__(self, folder, name):
        self.name = name
        self.symbols = {}
        self.defaults = set()
        for path in sorted(folder.glob("*.symbols.json")):
            graph = json.loads(path.read_text())
            for symbol in graph["symbols"]:
                self.symbols[symbol["identifier"]["precise"]] = symbol
            for relation in graph["relationships"]:
                if relation["kind"] == "defaultImplementationOf":
                    self.defaults.add(relation["source"])

    def is_listed(self, identifier, symbol):
        names = symbol["pathComponents"]
        if identifier in self.defaults and not first_sentence(symbol):
            return False
        return "::SYNTHESIZED::" not in identifier and not any(name.startswith("_") for name in names)

    def silent(self):
        """The places of listed symbols without a sentence."""
        for identifier, symbol in self.symbols.items():
            is_extension = symbol["kind"]["identifier"].endswith("extension")
            # What the compiler makes has no place.
            if is_extension or "location" not in symbol or not self.is_listed(identifier, symbol):
                continue
            if not first_sentence(symbol):
                path = symbol["location"]["uri"].removeprefix(f"file://{Path.cwd()}/")
                yield f"{path}:{symbol['location']['position']['line'] + 1}"

    def page(self):
        sections = {}
        for identifier, symbol in self.symbols.items():
            if not self.is_listed(identifier, symbol):
                continue
            kind = symbol["kind"]["identifier"]
            path = symbol["pathComponents"]
            if kind in TYPES:
                sections.setdefault(".".join(path), {})["self"] = symbol
            elif kind.endswith("extension"):
                continue
            else:
                section = ".".join(path[:-1])
                sections.setdefault(section, {}).setdefault("members", []).append(symbol)
        lines = [
            f"# {self.name} at a glance",
            "",
            f"Each public symbol of the library with its first sentence. `Scripts/docs --glance {self.name}` writes this page, and"
            " `Scripts/docs` checks it.",
        ]
        for name in sorted(sections, key=lambda name: (name != "", name)):
            section = sections[name]
            lines.append("")
            lines.append(f"## {name or 'Functions'}")
            lines.append("")
            if "self" in section:
                lines.append(self.line(section["self"]))
            for symbol in sorted(section.get("members", []), key=self.order):
                lines.append(self.line(symbol))
        return "\n".join(lines) + "\n"

    @staticmethod
    def order(symbol):
        kind = symbol["kind"]["identifier"]
        return (KINDS.index(kind) if kind in KINDS else len(KINDS), symbol["names"]["title"], text_of(symbol["declarationFragments"]))

    @staticmethod
    def line(symbol):
        declaration = text_of(symbol["declarationFragments"])
        sentence = first_sentence(symbol)
        return f"- `{declaration}`" + (f"  \n  {sentence}" if sentence else "")


def main(arguments):
    writes = "--write" in arguments
    symbols, pages, *libraries = [argument for argument in arguments if argument != "--write"]
    changed = []
    silent = []
    for name in libraries:
        page = Path(pages) / f"{name}.md"
        library = Library(Path(symbols) / name, name)
        silent += library.silent()
        text = library.page()
        if page.exists() and page.read_text() == text:
            continue
        if writes:
            page.parent.mkdir(parents=True, exist_ok=True)
            page.write_text(text)
        else:
            changed.append(str(page))
    for page in changed:
        print(f"{page} is not what the sources say: Scripts/docs --glance writes it")
    for place in sorted(silent):
        print(f"{place}: a public symbol without a sentence that says what it is")
    return 1 if changed or silent else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
