#!/usr/bin/env python3
"""Writes the pictures of the pages, or with --check compares them with what it would write.

A picture for light backgrounds and one for dark ones; in DocC's folders as NAME.svg and NAME~dark.svg, in docs/pictures
as NAME-light.svg and NAME-dark.svg. Speeds are those of README.md, modules those of Package.swift, and screens those of
docs/operating.md.
"""

import pathlib
import sys

import cards
import diagrams
from canvas import Canvas
from manifest import ROOT


def pictures():
    """Each picture: its path without the theme and the suffix, how it is drawn, its size and its title."""
    for library, (draw, title) in cards.CARDS.items():
        yield diagrams.folder(library) / f"{library}-card", draw, (320, 180), title
    for library, draw, size in (
        ("TypedCache", diagrams.tiers, (700, 256)), ("TypedCache", diagrams.loads, (700, 206)),
        ("SharedCache", diagrams.fleet, (700, 270)), ("ModelCache", diagrams.models, (700, 242)),
    ):
        yield diagrams.folder(library) / draw.__name__, draw, size, draw.__doc__
    yield diagrams.folder("TypedCache") / "top", diagrams.screen, (860, 216), "typed-cache top in a terminal"
    docs = pathlib.Path("docs/pictures")
    yield docs / "top", diagrams.screen, (860, 216), "typed-cache top in a terminal"
    yield docs / "modules", diagrams.modules, (940, 440), diagrams.modules.__doc__
    size = (840, diagrams.speed_height())
    yield docs / "speed", diagrams.speed, size, "How many times as long others take for the same work"
    yield pathlib.Path("docs/typed-cache.docc/Resources/speed"), diagrams.speed, size, "How long others take"


def files():
    for path, draw, (width, height), title in pictures():
        for theme in ("light", "dark"):
            canvas = Canvas(theme, width, height, title)
            if path.name.endswith("-card"):
                canvas.rect(0, 0, width, height, "back", "none", 0)
            draw(canvas)
            suffix = f"-{theme}" if path.parts[0] == "docs" and path.parts[1] == "pictures" else \
                "" if theme == "light" else "~dark"
            yield ROOT / f"{path}{suffix}.svg", canvas.svg()


def main():
    checks = sys.argv[1:] == ["--check"]
    failed = False
    for path, svg in files():
        if not checks:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(svg)
        elif not path.exists() or path.read_text() != svg:
            failed = True
            print(f"error: {path.relative_to(ROOT)} is not what Scripts/docs --pictures writes", file=sys.stderr)
    return 1 if failed else 0


sys.exit(main())
