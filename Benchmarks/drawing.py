"""Charts in a light and a dark version: titles, panels with bars or lines, legends and notes. Knows no results."""

import io
from types import SimpleNamespace

from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, LogLocator, NullLocator
from PIL import Image

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

    def subject_bars(self, panel, values, ours, unit=""):
        """A horizontal bar for each subject: ours in one colour, all others in another."""
        self.colour("ours")
        self.bars(panel, [(name, {"ours" if name in ours else "others": values[name]}) for name in values], unit)

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
