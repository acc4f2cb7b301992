"""The diagrams of the pages: how a fetch goes, what machines share, which module uses which, and how fast it is."""

import math
import pathlib
import re
import sys

from manifest import ROOT, targets


def tiers(canvas):
    """A fetch goes from memory to the disk to the program's own loader."""
    canvas.code(90, 40, "fetch(forKey:)", 14, "blue")
    canvas.arrow(90, 52, 90, 92, "blue")
    canvas.box(20, 96, 150, 84, "Memory", "values, ready", "limited by bytes")
    canvas.arrow(176, 126, 266, 126)
    canvas.text(221, 116, "not there", 12.5, "soft")
    canvas.cylinder(272, 84, 150, 108, "pale", "blue")
    canvas.text(347, 140, "Disk", 15, weight="600")
    canvas.text(347, 160, "archives, checked", 12.5, "soft")
    canvas.arrow(428, 126, 518, 126)
    canvas.text(473, 116, "not there", 12.5, "soft")
    canvas.box(524, 96, 156, 84, "Your producer", "once for all callers", stroke="orange")
    canvas.path("M602 186V222H95", "green")
    canvas.arrow(95, 222, 95, 186, "green")
    canvas.arrow(347, 222, 347, 198, "green")
    canvas.text(474, 241, "a loaded value is kept in both", 12.5, "green")


def loads(canvas):
    """Callers who miss one key wait for the one producer that runs."""
    for number in range(4):
        y = 20 + 48 * number
        canvas.rect(20, y, 150, 34, "page", "line", 6, stroke_width=1.5)
        canvas.code(95, y + 22, 'fetch("362")', 13)
        color = "blue" if number == 0 else "line"
        canvas.path(f"M170 {y + 17}C240 {y + 17} 240 109 300 109", color)
    canvas.box(304, 72, 156, 74, "One load", "the others wait", fill="pale", stroke="blue")
    canvas.arrow(466, 109, 536, 109, "blue")
    canvas.box(540, 72, 140, 74, "api.city(362)", "runs once", stroke="orange")


def fleet(canvas):
    """Machines keep entries in memory, and hear from the server which have changed."""
    for number, name in enumerate(("Machine A", "Machine B", "Machine C")):
        x = 20 + 230 * number
        canvas.box(x, 20, 200, 70, name, "entries in memory")
        canvas.arrow(x + 85, 94, 235 + 85 * number, 152, "blue")
        canvas.arrow(265 + 85 * number, 152, x + 115, 94, "orange")
    canvas.cylinder(190, 156, 320, 96, "pale", "blue")
    canvas.text(350, 206, "Redis or Valkey", 15, weight="600")
    canvas.text(350, 226, "the entries of all machines", 12.5, "soft")
    canvas.text(180, 212, "fetches, saves", 12.5, "blue", "end")
    canvas.text(520, 212, "messages of changes", 12.5, "orange", "start")


def models(canvas):
    """Lists hold identities, so that a model is kept once, wherever it came from."""
    for number, name in enumerate(("feed/swift", "search/cache")):
        y = 30 + 96 * number
        canvas.box(20, y, 150, 62, name, "a list of identities")
        canvas.arrow(174, y + 31, 262, 62 if number == 0 else 84, "soft")
    canvas.arrow(174, 160, 262, 160, "soft")
    canvas.box(266, 40, 150, 62, "Article 7", "links to its author", fill="pale", stroke="blue")
    canvas.box(266, 130, 150, 62, "Article 9", "links to its author", fill="pale", stroke="blue")
    canvas.arrow(420, 71, 520, 102, "blue")
    canvas.arrow(420, 161, 520, 124, "blue")
    canvas.box(524, 82, 156, 62, "User 3", "one entry, with its age", fill="pale", stroke="blue")
    canvas.text(350, 226, "A change of User 3 is seen in both articles and both lists.", 13, "soft")


# Where a module stands in its row, as a part of the width.
COLUMNS = {
    "typed-cache": 0.12, "CacheCommand": 0.12, "SequentialArchive": 0.12, "KeyedArchive": 0.24, "PropertyLists": 0.24,
    "ModelCacheTesting": 0.36, "ModelCacheHTTP": 0.56, "ModelCache": 0.45, "TypedCache": 0.5, "TypedCacheTesting": 0.78,
    "SharedCache": 0.78, "RedisWire": 0.9, "ArchiveStore": 0.62, "Eviction": 0.62,
}


def modules(canvas):
    """The package's modules, each above those that it uses, by Package.swift."""
    uses = {name: dependencies for name, kind, dependencies, folder in targets()
            if folder.parent.name == "Sources" and re.match(r"[A-Zt]", name) and not re.match(r"C[A-Z]\w+$", name)
            or name == "CacheCommand"}
    uses = {name: dependencies & uses.keys() for name, dependencies in uses.items()}

    def row(name):
        return 1 + max((row(user) for user in uses if name in uses[user]), default=-1)

    places = {name: (COLUMNS.get(name, 0.5) * canvas.width, 20 + 74 * row(name)) for name in uses}
    for name, dependencies in uses.items():
        x, y = places[name]
        # An arrow that others imply is left out.
        implied = set().union(*(reachable(uses, other) for other in dependencies))
        for other in sorted(dependencies - implied):
            to_x, to_y = places[other]
            canvas.path(f"M{x:.0f} {y + 34}C{x:.0f} {y + 60} {to_x:.0f} {to_y - 28} {to_x:.0f} {to_y - 2}", "line")
    for name, (x, y) in places.items():
        width = 8.2 * len(name) + 22
        is_product = name not in ("CacheCommand", "ArchiveStore", "Eviction", "RedisWire")
        canvas.rect(x - width / 2, y, width, 34, "pale" if is_product else "page",
                    "blue" if is_product else "line", 6, stroke_width=1.5)
        canvas.code(x, y + 22, name, 13.5)


def reachable(uses, name):
    found = set(uses[name])
    for other in uses[name]:
        found |= reachable(uses, other)
    return found


def screen(canvas, page="docs/operating.md", command="$ typed-cache top --app atlas\n"):
    """A terminal with the output of a command, as a page has it."""
    block = next(part for part in (ROOT / page).read_text().split("```") if command in part and "x" in part[:14])
    lines = block.split(command, 1)[1].rstrip("\n").splitlines()
    canvas.rect(0.5, 0.5, canvas.width - 1, canvas.height - 1, "#10151c", "#39434f", 10)
    for number, color in enumerate(("#ff5f57", "#febc2e", "#28c840")):
        canvas.circle(20 + 20 * number, 19, 6, color, "none")
    canvas.code(canvas.width / 2, 24, command.strip("$ \n"), 12.5, "#9aa5b5")
    for number, line in enumerate(lines):
        color = "#78aaff" if number == 2 else "#e6ebf2"
        canvas.code(18, 56 + 19 * number, line, 12, color, "start")


def speeds(page="README.md"):
    """The rows of a page's table of speeds: what is done, and for each peer its lowest and highest ratio."""
    table = (ROOT / page).read_text().partition("| work | compared with | factor |\n|---|---|---:|\n")[2].partition("\n\n")[0]
    known = (ROOT / "docs/speed.md").read_text().splitlines()
    for row in table.strip().splitlines():
        if row not in known:
            sys.exit(f"error: {page}: docs/speed.md has no such row: {row}")
        work, peers, ratios = row.strip("| ").replace("`", "").split(" | ")
        found = [[float(part) for part in ratio.strip("× ").split("–")] for ratio in ratios.split(" / ")]
        yield work, [(peer, ratio[0], ratio[-1]) for peer, ratio in zip(peers.split(" / "), found, strict=True)]


SPEED_ROW, SPEED_HEAD = 24, 66


def speed_height():
    return SPEED_HEAD + sum(SPEED_ROW * len(peers) + 28 for _, peers in speeds()) + 8


def speed(canvas):
    """A dot for each peer, on a scale of powers of two; 1 is this package."""
    left, right, low, high = 270, canvas.width - 60, 0.2, 6.5

    def place(ratio):
        return left + (right - left) * (math.log2(ratio) - math.log2(low)) / (math.log2(high) - math.log2(low))

    one, bottom = place(1), canvas.height - 8
    canvas.rect(one, SPEED_HEAD - 8, right - one + 44, bottom - SPEED_HEAD + 8, "back", "none", 0)
    canvas.text(one - 10, 22, "others are faster", 13, "orange", "end")
    canvas.text(one + 10, 22, "typed-cache is faster", 13, "blue", "start")
    for ratio in (0.25, 0.5, 1, 2, 4):
        x = place(ratio)
        canvas.path(f"M{x:.1f} {SPEED_HEAD - 8}V{bottom}", "ink" if ratio == 1 else "line",
                    width=1.5 if ratio == 1 else 0.5)
        canvas.text(x, 48, f"{ratio:g}×", 12, "soft")
    y = SPEED_HEAD
    for work, peers in speeds():
        canvas.text(16, y + 10, work, 13.5, anchor="start", weight="600")
        y += 28
        for peer, lowest, highest in peers:
            color = "blue" if lowest >= 1 else "orange" if highest <= 1 else "ink"
            start, end = place(lowest), place(highest)
            canvas.text(left - 14, y + 4, peer, 12.5, "soft", "end")
            canvas.path(f"M{one:.1f} {y}H{(start + end) / 2:.1f}", color, width=2)
            canvas.path(f"M{start:.1f} {y}H{end + 0.1:.1f}", color, width=11)
            figure = f"{lowest:g}×" if lowest == highest else f"{lowest:g}–{highest:g}×"
            after = highest >= 1
            canvas.text(max(end, one) + 12 if after else start - 12, y + 4, figure, 12.5, color,
                        "start" if after else "end")
            y += SPEED_ROW


def folder(library):
    return pathlib.Path("Sources") / library / f"{library}.docc" / "Resources"
