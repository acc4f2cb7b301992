#!/usr/bin/env python3
"""Draws the charts of a report: charts.py RESULTS.json FOLDER

Writes FOLDER/NAME-light.png and FOLDER/NAME-dark.png for each chart, and prints a line for it: suite, name and title,
separated by tabs. Charts of suites that are not in the results are left out. Needs matplotlib.
"""

import json
import sys
from pathlib import Path
from types import SimpleNamespace

try:
    from drawing import SIZES, THEMES, Drawing, ratio_drawing, short_size
except ImportError as error:
    sys.exit(f"charts.py: {error.name} is missing, so there are no charts; Scripts/bench installs matplotlib.")

MICROSECONDS = 1e-3
MEBIBYTES = 2**-20


class Run:
    """The findings of a run that have a figure: a time or a value."""

    def __init__(self, results):
        self.findings = []
        for finding in results["findings"]:
            [(kind, outcome)] = finding["outcome"].items()
            outcome = outcome.get("_0", outcome)
            summary = {"time": outcome.get("nanoseconds"), "value": outcome.get("summary")}.get(kind)
            if summary:
                figures = {"median": summary["median"], "ratio": outcome.get("ratio")}
                self.findings.append(SimpleNamespace(**finding, **figures))
        machine = results["machine"]
        self.source = " · ".join([
            f"commit {results['commit']}{', with changes' if results['isDirty'] else ''}",
            results["date"][:10],
            f"{machine['processor']}, {machine['cores']} cores",
            machine["kernel"].split("-")[0],
        ])

    def find(self, suite, work, **parameters):
        return [
            finding
            for finding in self.findings
            if (finding.suite, finding.work) == (suite, work)
            and parameters.items() <= finding.parameters.items()
        ]

    def works(self, suite):
        """The suite's works in which another subject is compared with ours, in their order."""
        found = [finding.work for finding in self.findings if finding.suite == suite and finding.ratio]
        return [
            work
            for work in dict.fromkeys(found)
            if len({finding.isOurs for finding in self.find(suite, work)}) == 2
        ]

    def ratios(self, suite, work, without=(), **parameters):
        """By subject: its time as a multiple of our first subject's, which is left out."""
        found = [finding for finding in self.find(suite, work, **parameters) if finding.ratio]
        ours = next((finding for finding in found if finding.isOurs), None)
        return {
            finding.subject: finding.ratio
            for finding in found
            if finding is not ours and finding.subject not in without
        }

    def values(self, suite, work, scale=1.0, **parameters):
        """By subject: the median."""
        return {finding.subject: finding.median * scale for finding in self.find(suite, work, **parameters)}

    def ours(self, suite, work):
        return {finding.subject for finding in self.find(suite, work) if finding.isOurs}

    def series(self, suite, work, axis, scale=1.0, without=()):
        """By subject: pairs of a parameter's number and the median."""
        series = {}
        for finding in self.find(suite, work):
            if finding.subject not in without:
                point = (quantity(finding.parameters[axis]), finding.median * scale)
                series.setdefault(finding.subject, []).append(point)
        return {subject: sorted(points) for subject, points in series.items()}

    def parameter(self, suite, work, name):
        return self.find(suite, work)[0].parameters[name]


def quantity(text):
    """A parameter's number: 1000 for `1,000`, 512 for `0.5 KiB`."""
    number, _, unit = text.partition(" ")
    return float(number.replace(",", "")) * SIZES.get(unit, 1)


# --- Charts: each function returns the drawing, or `None` if the run has no figures for it.


def foundation_ratios(run, suite, title, ours):
    groups = []
    for work in run.works(suite):
        ratios = run.ratios(suite, work)
        # Foundation's archiver takes no Codable value on Linux; it is the same coder.
        bars = {subject.removesuffix(", NSCoding class"): ratio for subject, ratio in ratios.items()}
        groups.append((work.removeprefix(f"{suite} "), bars))
    return ratio_drawing(title, ours, groups)


def archive_ratios(run):
    return foundation_ratios(run, "archive", "Archiving, beside Foundation's coders", "KeyedArchiver")


def unarchive_ratios(run):
    return foundation_ratios(run, "unarchive", "Unarchiving, beside Foundation's coders", "KeyedUnarchiver")


def archive_growth(run):
    series = run.series("archive", "archive objects", "objects")
    series |= run.series("unarchive", "unarchive objects", "objects")
    if not series:
        return None

    def draw(chart):
        chart.lines(chart.panels[0], series)
        chart.label(chart.panels[0], x="objects in the archive", y="ns for an object")

    note = "Time for each object of 5 fields. A flat line means that the time of the whole grows in proportion."
    return Drawing("Archives of many objects", note, 4.0, draw)


def compress_times(run):
    copy = "no compression, a copy"
    series = run.series("compress", "compress an archive", "size", MICROSECONDS, without=[copy])
    if not series:
        return None

    def draw(chart):
        chart.lines(chart.panels[0], series, short_size, "µs")
        chart.label(chart.panels[0], x="size of the archive", y="time")

    note = (
        "The cache's time is that of a save, less archiving and writing: its checksum, key and locks are in it. "
        "Logarithmic axes."
    )
    return Drawing("Compressing an archive of text, beside zlib alone", note, 4.2, draw)


def memory_hits(run):
    def hits(distribution, threads):
        parameters = {"distribution": distribution, "threads": threads}
        return run.ratios("memory", "hit one of 100,000 keys", without=["reading the key alone"], **parameters)

    groups = [
        ("Zipf 0.99, 1 thread", hits("Zipf 0.99", "1")),
        ("Zipf 0.99, 2 threads", hits("Zipf 0.99", "2")),
        ("uniform, 1 thread", hits("uniform", "1")),
        ("uniform, 2 threads", hits("uniform", "2")),
    ]
    return ratio_drawing("Hits in memory, one of 100,000 keys", "Cache", groups)


def disk_ratios(run, what, title, ours, without=()):
    works = ["save {}", "save over {}", "fetch {}, of 1,000", "remove {}"]
    groups = []
    for work in works:
        ratios = run.ratios("disk", work.format(what), without, text="1 KiB")
        groups.append((work.replace(" {}", ""), ratios))
    return ratio_drawing(title, ours, groups)


def disk_entries(run):
    settings = ["Cache, packed, 500 entries at most", "Cache, packed, writing behind"]
    title = "Entries on disk, 1 KiB of text, with encoding and compression"
    return disk_ratios(run, "an entry", title, "Cache, packed", without=settings)


def disk_bytes(run):
    title = "Entries on disk, 1 KiB of text, as bytes that were compressed before"
    return disk_ratios(run, "an entry's bytes", title, "packed store")


def disk_sizes(run):
    panels = {
        "save": run.series("disk", "save an entry's bytes", "text", MICROSECONDS),
        "fetch, of 1,000 entries": run.series("disk", "fetch an entry's bytes, of 1,000", "text", MICROSECONDS),
    }
    if not all(panels.values()):
        return None

    def draw(chart):
        for panel, (title, series) in zip(chart.panels, panels.items()):
            chart.lines(panel, series, short_size, "µs")
            chart.label(panel, title, x="text of an entry")

    note = "Time for an entry's bytes that were compressed before. No store waits for the disk. Logarithmic axes."
    return Drawing("Stores on disk, by the size of an entry", note, 4.6, draw, columns=2)


def disk_waiting(run):
    alone = run.values("disk", "save an entry's bytes, and wait for the disk", MICROSECONDS, text="1 KiB")
    together = run.values("disk", "save an entry's bytes among others, and wait for the disk", MICROSECONDS)
    if not alone or not together:
        return None

    ours = run.ours("disk", "save an entry's bytes, and wait for the disk")

    def draw(chart):
        for panel, title, values in zip(chart.panels, ["1 thread", "8 threads at once"], [alone, together]):
            chart.subject_bars(panel, values, ours, " µs")
            chart.label(panel, title)

    note = (
        "Time of a save of 1 KiB of text, as its thread sees it; less is better. SQLite waits for each save "
        "if synchronous is full, not if it is normal."
    )
    return Drawing("Saves that wait for the disk", note, 4.6, draw, rows=2, legend_columns=None)


def hit_ratio_sizes(run):
    policies = ["Cache", "LRU", "SIEVE", "Belady"]
    traces = {}
    for finding in run.find("hit-ratio", "hit ratio"):
        if finding.subject in policies:
            lines = traces.setdefault(finding.parameters["trace"], {policy: [] for policy in policies})
            lines[finding.subject].append((quantity(finding.parameters["entries"]), finding.median))
    # One point makes no line.
    traces = {trace: lines for trace, lines in traces.items() if len(lines["Cache"]) > 1}
    if not traces:
        return None
    columns = 4
    rows = -(-len(traces) // columns)

    def draw(chart):
        for panel, (trace, lines) in zip(chart.panels, traces.items()):
            chart.lines(panel, lines)
            chart.label(panel, trace)
        for panel in chart.panels[len(traces) :]:
            panel.set_visible(False)
        for panel in chart.panels[::columns]:
            panel.set_ylabel("hits, %", fontsize=10, color=chart.theme.faint)

    note = (
        "Over the number of entries that memory holds. Belady's is the optimum, which knows the future. "
        "Where lines coincide, the cache's is on top."
    )
    return Drawing(
        "Hit ratio, by the size of the memory", note, 1.3 + 2.0 * rows, draw, rows, columns, legend_columns=4
    )


def hit_ratio_optimum(run):
    means = run.values("hit-ratio", "mean of hits / Belady hits", 100)
    minima = run.values("hit-ratio", "minimum of hits / Belady hits", 100)
    policies = sorted(means.keys() - {"Belady", "bar"}, key=means.get, reverse=True)
    if not policies:
        return None

    def draw(chart):
        for panel, title, values in zip(chart.panels, ["mean", "worst trace and size"], [means, minima]):
            chart.subject_bars(panel, {name: values[name] for name in policies}, {"Cache"}, " %")
            chart.label(panel, title)
        chart.panels[1].tick_params(labelleft=False)

    cells = run.parameter("hit-ratio", "mean of hits / Belady hits", "cells")
    note = (
        f"Hits as a share of the most that are possible (Belady), of {cells} recorded traces and sizes. "
        "Published figures were not measured here."
    )
    return Drawing(
        "Hit ratio, beside the optimum", note, 1.5 + 0.27 * len(policies), draw, columns=2, legend_columns=None
    )


def scale_times(run):
    panels = {
        "save an entry": (run.series("scale", "save an entry", "entries"), "µs"),
        "fetch an entry": (run.series("scale", "fetch an entry", "entries"), "µs"),
        "open and fetch an entry": (run.series("scale", "open and fetch an entry", "entries"), "ms"),
    }
    if not all(series for series, _ in panels.values()):
        return None

    def draw(chart):
        for panel, (title, (series, unit)) in zip(chart.panels, panels.items()):
            chart.lines(panel, series, unit=unit)
            chart.label(panel, title, x="entries")

    note = "Entries of 256 B of text. Caches encode and compress; all others are given bytes. Logarithmic axes."
    return Drawing("Time, as entries become many", note, 4.4, draw, columns=3)


def scale_space(run):
    length = run.values("scale", "disk space of cities, by length", MEBIBYTES)
    blocks = run.values("scale", "disk space of cities, by blocks", MEBIBYTES)
    if not length:
        return None
    groups = [
        (subject.replace(", the streams of files", ""), {"by length": length[subject], "by blocks": blocks[subject]})
        for subject in length
    ]

    def draw(chart):
        chart.bars(chart.panels[0], groups, " MiB")

    cities = run.parameter("scale", "disk space of cities, by length", "cities")
    note = "By the lengths of files, and by the blocks of the file system. SQLite has the same compressed bytes."
    return Drawing(f"Disk space of {int(cities):,} cities", note, 3.8, draw)


def warm_speed(run):
    speed = run.values("warm", "warm a cache")
    space = run.values("warm", "disk space after warming, by blocks")
    if not speed or not space:
        return None
    ours = run.ours("warm", "warm a cache")
    titles = ["records a second; more is better", "MiB of blocks on disk; less is better"]

    def draw(chart):
        for panel, title, values in zip(chart.panels, titles, [speed, space]):
            chart.subject_bars(panel, values, ours)
            chart.label(panel, title)
            panel.locator_params(axis="x", nbins=5)
        chart.panels[1].tick_params(labelleft=False)

    records = run.parameter("warm", "warm a cache", "records")
    note = f"{int(records):,} records from a file, from the start of the program to its end."
    return Drawing("Filling a cache from a file", note, 2.9, draw, columns=2, legend_columns=None)


def large_ratios(run):
    works = ["save over a value that does not shrink", "fetch a value that does not shrink"]
    works += ["save over a text", "fetch a text"]
    groups = [(work, run.ratios("large", work, size="4 MiB")) for work in works]
    return ratio_drawing("Values of 4 MiB, beside plain files", "Cache, packed", groups)


def models_ratios(run):
    groups = [(work, run.ratios("models", work)) for work in run.works("models")]
    title = "Models, beside SQLite"
    return ratio_drawing(title, "ModelCache", groups)


def models_growth(run):
    saving, starting = "save one model that is in lists", "open and read the first list of 20 with their makers"
    panels = [
        ("save one model", run.series("models", saving, "lists", MICROSECONDS), "lists that it is in"),
        ("open and read the first list", run.series("models", starting, "models", MICROSECONDS), "models on disk"),
    ]
    if not all(series for _, series, _ in panels):
        return None

    def draw(chart):
        for panel, (title, series, x) in zip(chart.panels, panels):
            chart.lines(panel, series)
            chart.label(panel, title, x, "µs")

    note = "Time of ModelCache alone. Less is better."
    return Drawing("Models, as they become many", note, 3.6, draw, columns=2)


CHARTS = [
    ("archive", archive_ratios),
    ("archive", archive_growth),
    ("unarchive", unarchive_ratios),
    ("compress", compress_times),
    ("memory", memory_hits),
    ("disk", disk_entries),
    ("disk", disk_bytes),
    ("disk", disk_sizes),
    ("disk", disk_waiting),
    ("large", large_ratios),
    ("hit-ratio", hit_ratio_optimum),
    ("hit-ratio", hit_ratio_sizes),
    ("scale", scale_times),
    ("scale", scale_space),
    ("warm", warm_speed),
    ("models", models_ratios),
    ("models", models_growth),
]


def draw_charts(results, folder):
    run = Run(results)
    for suite, make in CHARTS:
        drawing = make(run)
        if drawing is None:
            continue
        name = make.__name__.replace("_", "-")
        for theme_name, theme in THEMES.items():
            drawing.save(theme, run.source, folder / f"{name}-{theme_name}.png")
        print(suite, name, drawing.title, sep="\t")


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("usage: charts.py RESULTS.json FOLDER")
    draw_charts(json.loads(Path(sys.argv[1]).read_text()), Path(sys.argv[2]))
