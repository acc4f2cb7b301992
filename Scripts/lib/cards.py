"""The pictures of the libraries, 320 by 180, as the front page of the documentation shows them."""


def typed_cache(canvas):
    for column in range(5):
        chosen = column == 2
        canvas.rect(72 + 37 * column, 30, 28, 28, "blue" if chosen else "page", "blue" if chosen else "line", 6)
    canvas.cylinder(72, 96, 176, 58, "pale", "blue")
    for column in range(5):
        canvas.rect(84 + 33 * column, 122, 20, 20, "blue" if column == 2 else "page", "blue", 4)
    canvas.arrow(160, 112, 160, 68, "blue", 3)


def model_cache(canvas):
    def card(x, y, fill, lines):
        canvas.rect(x, y, 84, 52, "page", fill, stroke_width=2)
        canvas.circle(x + 18, y + 26, 10, fill, fill)
        for number, width in enumerate(lines):
            canvas.rect(x + 36, y + 14 + 12 * number, width, 5, "line", "line", 2)

    canvas.path("M116 46C160 46 160 90 202 90", "blue")
    canvas.path("M116 134C160 134 160 90 202 90", "blue")
    card(32, 20, "orange", (38, 26, 32))
    card(32, 108, "orange", (34, 38, 20))
    card(204, 64, "blue", (38, 30, 22))


def model_cache_http(canvas):
    canvas.rect(44, 28, 68, 124, "page", "line", 12, stroke_width=2)
    for number, color in enumerate(("blue", "line", "line")):
        canvas.rect(54, 46 + 32 * number, 48, 22, color, color, 4)
    canvas.path("M214 118a26 26 0 0 1 2-52a34 34 0 0 1 64-4a28 28 0 0 1 -4 56Z", "blue", "pale")
    canvas.arrow(124, 76, 178, 76, "soft", 3)
    canvas.arrow(178, 108, 124, 108, "blue", 3)
    canvas.code(246, 102, "304", 20, "blue")


def shared_cache(canvas):
    for number, y in enumerate((22, 72, 122)):
        canvas.rect(36, y, 66, 36, "page", "line", 6, stroke_width=2)
        canvas.rect(46, y + 10, 16, 16, "blue" if number == 1 else "line", "none", 3)
        canvas.rect(68, y + 10, 16, 16, "line", "none", 3)
        canvas.path(f"M102 {y + 18}C150 {y + 18} 160 90 206 90", "blue")
    canvas.cylinder(208, 46, 82, 88, "pale", "blue")
    canvas.rect(240, 84, 20, 20, "blue", "blue", 4)


def keyed_archive(canvas):
    canvas.rect(40, 22, 240, 136, "page", "line", 8, stroke_width=2)
    for number, (key, value) in enumerate((("name", '"Ada"'), ("born", "1815"), ("friend", "#2"))):
        y = 58 + 38 * number
        canvas.code(60, y, key, 18, "soft", "start")
        canvas.code(152, y, value, 18, "blue", "start")
    canvas.path("M196 128C236 128 246 104 246 74V62", "orange")
    canvas.circle(246, 48, 12, "pale", "orange", stroke_width=2)


def sequential_archive(canvas):
    canvas.path("M22 66H298M22 114H298", "line")
    for number, text in enumerate(("i", "@", '"…"', "f", "@")):
        x = 34 + 52 * number
        chosen = number == 2
        canvas.rect(x, 72, 44, 36, "blue" if chosen else "page", "blue" if chosen else "line", 4, stroke_width=2)
        canvas.code(x + 22, 96, text, 16, "page" if chosen else "ink")
    canvas.arrow(160, 28, 160, 58, "blue", 3)
    canvas.arrow(190, 138, 250, 138, "soft", 2)


def property_lists(canvas):
    for y, text, color in ((44, "<dict>", "soft"), (70, "  <key>size</key>", "ink"), (96, "  <array>…</array>", "blue"),
                           (122, "</dict>", "soft"), (154, "{ size = (…); }", "orange")):
        canvas.code(54, y, text, 17, color, "start")


def typed_cache_testing(canvas):
    canvas.circle(112, 90, 56, "page", "line", stroke_width=3)
    for x, y in ((112, 42), (112, 138), (64, 90), (160, 90)):
        canvas.circle(x, y, 3, "line")
    canvas.path("M112 90V56M112 90L140 108", "ink", width=4)
    canvas.path("M132 20A74 74 0 0 1 186 88", "blue", width=3)
    canvas.arrow(185, 74, 186, 92, "blue", 3)
    canvas.path("M224 92l18 20l38 -46", "green", width=7)


def model_cache_testing(canvas):
    for number, (text, color) in enumerate((("200 OK", "green"), ("304", "blue"), ("503", "orange"))):
        y = 26 + 46 * number
        canvas.rect(44, y, 136, 36, "page", "line", 6, stroke_width=2)
        canvas.circle(64, y + 18, 6, color, color)
        canvas.code(84, y + 24, text, 17, "ink", "start")
    canvas.path("M216 92l20 22l42 -50", "green", width=7)


CARDS = {
    "TypedCache": (typed_cache, "Entries in memory, above a disk that has them all"),
    "ModelCache": (model_cache, "Two models that link to a third one"),
    "ModelCacheHTTP": (model_cache_http, "An app that asks a server, which answers 304"),
    "SharedCache": (shared_cache, "Three machines with one server"),
    "KeyedArchive": (keyed_archive, "Values under keys, one of them another object"),
    "SequentialArchive": (sequential_archive, "Values one after the other, with their types"),
    "PropertyLists": (property_lists, "A property list in XML and in OpenStep's text"),
    "TypedCacheTesting": (typed_cache_testing, "A clock that is moved by hand"),
    "ModelCacheTesting": (model_cache_testing, "A server's answers, written in advance"),
}
