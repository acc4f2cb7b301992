#!/usr/bin/env python3
"""Draws the charts of a report: charts.py RESULTS.json FOLDER

Writes FOLDER/NAME-light.png and FOLDER/NAME-dark.png for each chart, and prints a line for it: suite, name and title,
separated by tabs. Charts of suites that are not in the results are left out. Needs matplotlib.
"""

import io
import json
import sys
from pathlib import Path
from types import SimpleNamespace

try:
    from matplotlib.figure import Figure
    from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
    from PIL import Image
except ImportError:
    sys.exit("charts.py: matplotlib is missing, so there are no charts; Scripts/bench installs it.")

# The first colour is this package's.
LIGHT = SimpleNamespace(
    ground="#ffffff",
    text="#1f2328",
    faint="#59636e",
    grid="#d1d9e0",
    colours=["#0969da", "#d4700c", "#1a7f37", "#8250df", "#cf222e", "#0f8a8a", "#7d6100"],
)
DARK = SimpleNamespace(
    ground="#0d1117",
    text="#f0f6fc",
    faint="#9198a1",
    grid="#30363d",
    colours=["#4493f8", "#f0883e", "#3fb950", "#ab7df8", "#ff7b72", "#39c5cf", "#d4b106"],
)
THEMES = {"light": LIGHT, "dark": DARK}

SIZES = {"GiB": 2**30, "MiB": 2**20, "KiB": 2**10}
MICROSECONDS = 1e-3
MEBIBYTES = 2**-20


# --- Results


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


# --- Numbers for people


def short_count(count):
    if count >= 1e6:
        return f"{count / 1e6:g}M"
    return f"{count / 1e3:g}k" if count >= 1e3 else f"{count:g}"


def short_size(count):
    for unit, size in SIZES.items():
        if count >= size:
            return f"{count / size:g} {unit}"
    return f"{count:.0f} B"


def three_digits(value):
    if value >= 99.5:
        return f"{value:,.0f}"
    return f"{value:.1f}" if value >= 9.95 else f"{value:.2f}" if value else "0"


# --- Drawing


class Chart:
    """A title, one panel or several, a legend and notes, in one theme."""

    WIDTH = 9.0
    TITLE_HEIGHT = 0.45
    LEGEND_ROW_HEIGHT = 0.25
    NOTES_HEIGHT = 0.55

    def __init__(self, theme, height, rows=1, columns=1):
        self.theme = theme
        self.height = height
        self.subjects = []
        self.handles = {}
        self.figure = Figure(figsize=(self.WIDTH, height), layout="constrained", facecolor=theme.ground)
        self.panels = list(self.figure.subplots(rows, columns, squeeze=False).flat)
        for panel in self.panels:
            panel.set_facecolor(theme.ground)
            panel.set_axisbelow(True)
            panel.grid(color=theme.grid, linewidth=0.7)
            panel.tick_params(colors=theme.text, labelsize=10, length=0, which="both")
            panel.spines[["top", "right"]].set_visible(False)
            panel.spines[["left", "bottom"]].set_color(theme.grid)

    def label(self, panel, title=None, x=None, y=None):
        panel.set_title(title, loc="left", fontsize=11, color=self.theme.text)
        panel.set_xlabel(x, fontsize=10, color=self.theme.faint)
        panel.set_ylabel(y, fontsize=10, color=self.theme.faint)

    def colour(self, subject):
        """One colour for a subject in all panels, in the order in which subjects come."""
        if subject not in self.subjects:
            self.subjects.append(subject)
        return self.theme.colours[self.subjects.index(subject) % len(self.theme.colours)]

    def bars(self, panel, groups, unit=""):
        """Horizontal bars: groups are pairs of a label and values by subject."""
        largest = max(value for _, bars in groups for value in bars.values())
        for place, subject, value in self.place_bars(panel, groups):
            self.bar(panel, place, subject, end=value)
            self.figure_beside(panel, place, value, f"{three_digits(value)}{unit}")
        panel.set_xlim(0, largest * 1.22)
        panel.xaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))

    def ratio_bars(self, panel, groups):
        """Horizontal bars that begin at 1 on a logarithmic axis, with the range of the samples."""
        panel.set_xscale("log")
        ends = [1.0]
        for place, subject, ratio in self.place_bars(panel, groups):
            self.bar(panel, place, subject, start=1, end=ratio["median"])
            ends += [ratio["p10"], ratio["p90"], ratio["median"]]
            panel.plot([ratio["p10"], ratio["p90"]], [place, place], color=self.theme.text, linewidth=1, alpha=0.6)
            text = f"{three_digits(ratio['median'])}×"
            self.figure_beside(panel, place, max(1, ratio["p90"], ratio["median"]), text)
        lowest, highest = min(ends), max(ends)
        span = highest / lowest
        panel.set_xlim(lowest / span**0.03, highest * span**0.14)
        self.round_ticks(panel.xaxis, "×")
        panel.axvline(1, color=self.theme.text, linewidth=1.2)

    def place_bars(self, panel, groups):
        """Gives each bar a place from top to bottom, and labels the groups in their middles."""
        bars, ticks, place = [], [], 0.0
        gap = 0.6 if any(len(values) > 1 for _, values in groups) else 0
        for label, values in groups:
            bars += [(place + index, subject, value) for index, (subject, value) in enumerate(values.items())]
            ticks.append((place + (len(values) - 1) / 2, label))
            place += len(values) + gap
        panel.set_yticks(*zip(*ticks))
        panel.set_ylim(bars[-1][0] + 0.8, -0.8)
        panel.grid(visible=False, axis="y")
        return bars

    def bar(self, panel, place, subject, end, start=0.0):
        colour = self.colour(subject)
        self.handles[subject] = panel.barh(place, end - start, left=start, height=0.8, color=colour)

    def figure_beside(self, panel, place, end, text):
        panel.annotate(
            text, (end, place), (5, 0), textcoords="offset points", va="center", fontsize=9.5, color=self.theme.text
        )

    def lines(self, panel, series, x=short_count, unit=None):
        """A line for each subject over a logarithmic axis; the other axis is so too if a unit is given."""
        for subject, points in series.items():
            colour = self.colour(subject)
            style = {"color": colour, "marker": "o", "markersize": 5, "linewidth": 2}
            # The first subject's line lies on top.
            order = 10 - self.subjects.index(subject)
            [self.handles[subject]] = panel.plot(*zip(*points), zorder=order, **style)
        places = sorted({place for points in series.values() for place, _ in points})
        panel.set_xscale("log")
        panel.set_xticks(places, [x(place) for place in places])
        panel.xaxis.set_minor_locator(NullLocator())
        if unit:
            panel.set_yscale("log")
            self.round_ticks(panel.yaxis, f" {unit}")
        else:
            panel.set_ylim(0, 1.1 * max(value for points in series.values() for _, value in points))
            panel.yaxis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}"))

    def round_ticks(self, axis, unit):
        """Ticks at 1, 2, 5, 10, … of a short logarithmic axis, and at 1, 10, 100, … of a long one."""
        low, high = axis.get_view_interval()
        axis.set_major_locator(LogLocator(subs=(1, 2, 5) if high / low < 200 else (1,)))
        axis.set_major_formatter(FuncFormatter(lambda value, _: f"{value:,g}{unit}"))
        axis.set_minor_locator(NullLocator())

    def finish(self, title, notes, legend_columns):
        """Puts title, legend and notes into the places that are left for them."""
        names = [subject for subject in self.subjects if subject in self.handles]
        rows = -(-len(names) // legend_columns) if len(names) > 1 and legend_columns else 0
        left = 0.13 / self.WIDTH
        top = self.TITLE_HEIGHT + rows * self.LEGEND_ROW_HEIGHT + 0.05
        room = (left, self.NOTES_HEIGHT / self.height, 1 - 2 * left, 1 - (top + self.NOTES_HEIGHT) / self.height)
        self.figure.get_layout_engine().set(rect=room, wspace=0.04, hspace=0.06)
        place = {"x": left, "ha": "left", "color": self.theme.text}
        self.figure.text(y=1 - 0.12 / self.height, s=title, va="top", fontsize=14, fontweight="bold", **place)
        place["color"] = self.theme.faint
        self.figure.text(y=0.1 / self.height, s="\n".join(notes), va="bottom", fontsize=8.5, **place)
        if rows:
            self.figure.legend(
                [self.handles[name] for name in names],
                names,
                loc="upper left",
                bbox_to_anchor=(0, 1 - self.TITLE_HEIGHT / self.height),
                ncols=legend_columns,
                frameon=False,
                fontsize=10,
                labelcolor=self.theme.text,
            )


class Drawing:
    """A chart to be drawn in each theme.

    `draw` is given the `Chart`. `rows` and `columns` are those of its panels.
    """

    def __init__(self, title, note, height, draw, rows=1, columns=1, legend_columns=3):
        self.title, self.note, self.height, self.draw = title, note, height, draw
        self.rows, self.columns, self.legend_columns = rows, columns, legend_columns

    def save(self, theme, source, path):
        chart = Chart(theme, self.height, self.rows, self.columns)
        self.draw(chart)
        chart.finish(self.title, [self.note, source], self.legend_columns)
        image = io.BytesIO()
        # Twice the pixels of the page, for sharp text.
        chart.figure.savefig(image, dpi=180)
        # A palette makes the file half as large.
        Image.open(image).convert("RGB").quantize(128).save(path, optimize=True)


def ratio_drawing(title, ours, groups):
    """Ratios to our time, in groups; `None` without any."""
    groups = [(label, bars) for label, bars in groups if bars]
    if not groups:
        return None

    def draw(chart):
        # Its colour is ours even though its bar has no length.
        chart.colour(ours)
        chart.ratio_bars(chart.panels[0], groups)

    note = (
        f"Time as a multiple of that of {ours}, on a logarithmic axis: right of the line is slower. "
        "Thin lines: 10 % to 90 % of the samples."
    )
    bars = sum(len(bars) + 0.6 for _, bars in groups)
    return Drawing(title, note, 2.0 + 0.26 * bars, draw)


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

    def draw(chart):
        for panel, title, values in zip(chart.panels, ["1 thread", "8 threads at once"], [alone, together]):
            groups = [(name, {"ours" if "store" in name else "peers": value}) for name, value in values.items()]
            chart.bars(panel, groups, " µs")
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
            # All other policies have one colour.
            chart.colour("Cache")
            groups = [(name, {"Cache" if name == "Cache" else "others": values[name]}) for name in policies]
            chart.bars(panel, groups, " %")
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
    ours = next(iter(speed))
    titles = ["records a second; more is better", "MiB of blocks on disk; less is better"]

    def draw(chart):
        for panel, title, values in zip(chart.panels, titles, [speed, space]):
            chart.colour(ours)
            groups = [(name, {name if name == ours else "others": value}) for name, value in values.items()]
            chart.bars(panel, groups)
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
