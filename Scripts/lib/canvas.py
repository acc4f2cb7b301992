"""Draws an SVG in a light or a dark theme: shapes, arrows and text by the names of the theme's colours."""

from html import escape

THEMES = {
    "light": {
        "back": "#f3f6fb", "page": "#ffffff", "ink": "#1d1d1f", "soft": "#5d6678", "line": "#b4bfd0",
        "blue": "#2a6bd8", "pale": "#d9e6fb", "orange": "#c46a11", "green": "#1f8a5b",
    },
    "dark": {
        "back": "#1a2029", "page": "#252d39", "ink": "#f2f4f8", "soft": "#a3aec0", "line": "#4a5566",
        "blue": "#78aaff", "pale": "#2c4063", "orange": "#f0a35a", "green": "#5bcb9b",
    },
}
SANS = "system-ui, -apple-system, 'Segoe UI', 'Noto Sans', 'DejaVu Sans', sans-serif"
MONO = "ui-monospace, 'SF Mono', Menlo, 'DejaVu Sans Mono', monospace"


class Canvas:
    def __init__(self, theme, width, height, title):
        self.colors = THEMES[theme]
        self.width, self.height, self.title = width, height, title
        self.parts = []

    def color(self, name):
        return self.colors.get(name, name)

    def add(self, tag, **attributes):
        for name in ("fill", "stroke"):
            if name in attributes:
                attributes[name] = self.color(attributes[name])
        text = " ".join(f'{name.replace("_", "-")}="{value}"' for name, value in attributes.items())
        self.parts.append(f"<{tag} {text}/>")

    def rect(self, x, y, width, height, fill="page", stroke="line", radius=8, **more):
        self.add("rect", x=x, y=y, width=width, height=height, rx=radius, fill=fill, stroke=stroke, **more)

    def circle(self, x, y, radius, fill="page", stroke="line", **more):
        self.add("circle", cx=x, cy=y, r=radius, fill=fill, stroke=stroke, **more)

    def path(self, d, stroke="line", fill="none", width=2, **more):
        self.add("path", d=d, fill=fill, stroke=stroke, stroke_width=width, stroke_linecap="round",
                 stroke_linejoin="round", **more)

    def arrow(self, x1, y1, x2, y2, stroke="soft", width=2, **more):
        """A line with a head at its second end."""
        length = ((x2 - x1) ** 2 + (y2 - y1) ** 2) ** 0.5
        ux, uy = (x2 - x1) / length, (y2 - y1) / length
        self.path(f"M{x1} {y1}L{x2} {y2}", stroke, width=width, **more)
        left = f"{x2 - 8 * ux - 5 * uy:.1f} {y2 - 8 * uy + 5 * ux:.1f}"
        right = f"{x2 - 8 * ux + 5 * uy:.1f} {y2 - 8 * uy - 5 * ux:.1f}"
        self.path(f"M{left}L{x2} {y2}L{right}", stroke, width=width)

    def text(self, x, y, text, size=14, fill="ink", anchor="middle", weight="normal", font=SANS):
        self.parts.append(
            f'<text x="{x}" y="{y}" font-family="{font}" font-size="{size}" font-weight="{weight}" '
            f'fill="{self.color(fill)}" text-anchor="{anchor}" xml:space="preserve">{escape(text)}</text>'
        )

    def code(self, x, y, text, size=13, fill="ink", anchor="middle"):
        self.text(x, y, text, size, fill, anchor, font=MONO)

    def box(self, x, y, width, height, title, *lines, fill="page", stroke="line"):
        """A box with a title and smaller lines, all centred."""
        self.rect(x, y, width, height, fill, stroke, stroke_width=1.5)
        top = y + height / 2 - 9 * len(lines) + 5
        self.text(x + width / 2, top, title, 15, weight="600")
        for number, line in enumerate(lines, 1):
            self.text(x + width / 2, top + 18 * number, line, 12.5, "soft")

    def cylinder(self, x, y, width, height, fill="page", stroke="line"):
        """A disk's sign."""
        rx, ry = width / 2, 9
        self.path(
            f"M{x} {y + ry}A{rx} {ry} 0 0 1 {x + width} {y + ry}V{y + height - ry}"
            f"A{rx} {ry} 0 0 1 {x} {y + height - ry}Z", stroke, fill, 1.5,
        )
        self.path(f"M{x} {y + ry}A{rx} {ry} 0 0 0 {x + width} {y + ry}", stroke, width=1.5)

    def svg(self):
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{self.width}" height="{self.height}" '
            f'viewBox="0 0 {self.width} {self.height}" role="img">\n<title>{escape(self.title)}</title>\n'
            + "\n".join(self.parts) + "\n</svg>\n"
        )
