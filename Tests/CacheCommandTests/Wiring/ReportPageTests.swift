import ArchiveStore
import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand
@testable import TypedCache

/// The page of `report` in a browser.
@Suite(
    .serialized,
    .enabled(if: isLongRun, "it takes long: in .ci/run only"),
    .enabled(if: BrowserSession.executable != nil, "Scripts/test --all installs Chromium")
)
struct ReportPageTests {
    private let cache: DiskCache
    private let page: URL

    /// Keys that set `window.ran` if a browser takes a part of them for markup.
    private static let hostileKeys = [
        "<img src=x onerror=window.ran=1 \">", "'><svg onload=window.ran=1>", "<script>window.ran=1</script>",
        "</th></table><iframe srcdoc='<script>parent.ran=1</script>'>", "&lt;script&gt;window.ran=1",
        "</style><script>window.ran=1</script>", "right \u{202E}to\u{2067} left", "\u{5E9}\u{5DC}\u{5D5}\u{5DD}",
        "-->\u{0}<b>bold</b>", String(repeating: "W", count: 900),
    ]

    /// Faults of the layout, each in words.
    private static let layoutFaults = """
        (() => {
            const faults = [];
            const light = (color) => {
                const part = color.match(/[\\d.]+/g).slice(0, 3).map((value) => value / 255)
                    .map((value) => value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4);
                return 0.2126 * part[0] + 0.7152 * part[1] + 0.0722 * part[2];
            };
            const contrast = (one, other) => {
                const [dark, bright] = [light(one), light(other)].sort((a, b) => a - b);
                return (bright + 0.05) / (dark + 0.05);
            };
            const ground = (element) => {
                for (let at = element; at; at = at.parentElement) {
                    const color = getComputedStyle(at).backgroundColor;
                    if (!color.startsWith("rgba") || !color.endsWith(" 0)")) return color;
                }
                return "rgb(255, 255, 255)";
            };
            const overlap = (a, b) => a.left < b.right && b.left < a.right && a.top < b.bottom && b.top < a.bottom;
            for (const element of document.querySelectorAll("main *")) {
                const style = getComputedStyle(element), box = element.getBoundingClientRect();
                const text = [...element.childNodes].filter((node) => node.nodeType == 3).map((node) => node.data).join("").trim();
                if (!box.width || !box.height) continue;
                const name = `${element.tagName} ${text.slice(0, 40)}`;
                const isDrawn = element instanceof SVGElement;
                if (!isDrawn && style.display != "inline" && element.scrollWidth > element.clientWidth + 1) faults.push(`cut: ${name}`);
                if (text && contrast(isDrawn ? style.fill : style.color, ground(element)) < 4.5) faults.push(`faint: ${name}`);
                const isBar = element.matches(".live, .dead, .bar span");
                if (isBar && contrast(style.backgroundColor, ground(element.parentElement)) < 2.5) faults.push(`faint: ${element.className}`);
                if (box.left < 0 || box.right > document.documentElement.clientWidth + 1) faults.push(`outside: ${name}`);
            }
            for (const table of document.querySelectorAll("table")) {
                const edges = [...table.rows].map((row) => [...row.cells].filter((cell) => !cell.matches(".bar"))
                    .map((cell) => Math.round(cell.getBoundingClientRect().right)).join());
                if (new Set(edges).size != 1) faults.push(`columns: ${edges}`);
            }
            for (const drawing of document.querySelectorAll("svg")) {
                const frame = drawing.getBoundingClientRect();
                const labels = [...drawing.querySelectorAll("text")].map((label) => [label.textContent, label.getBoundingClientRect()]);
                labels.forEach(([text, box], number) => {
                    const isInside = box.left >= frame.left && box.right <= frame.right && box.top >= frame.top && box.bottom <= frame.bottom;
                    if (!isInside) faults.push(`cut label: ${text}`);
                    for (const [other, place] of labels.slice(number + 1))
                        if (overlap(box, place)) faults.push(`labels overlap: ${text}, ${other}`);
                });
            }
            return faults;
        })()
        """

    /// A report of everything that a page can show: hostile keys and tags, all classes, a profile of the uses.
    init() throws {
        cache = DiskCache(try Workspace())
        let now = Date.now
        for (number, key) in Self.hostileKeys.enumerated() {
            var attributes = EntryAttributes(
                storedAt: now.addingTimeInterval(-Double(number * number) * 500_000),
                expiresAt: now.addingTimeInterval(Double(number - 2) * 1_000_000)
            )
            attributes.tags = [String(key.prefix(80))]
            // The one from right to left is the largest, and so in a finding.
            // The first ones come first: those that hide others of them in a browser come later.
            let text = (0..<(number == 7 ? 4_000 : 400 - 40 * number)).map { "\($0 &* 7_919 % 10_007)" }.joined()
            try cache.save(DiskCache.archive(text), key, with: attributes)
        }
        try cache.profileUses()
        page = cache.workspace.url.appending(path: "report.html")
        #expect(cache.run("report", "-o", page.path).status == .success)
    }

    @Test(
        "No key is taken for markup, nothing is asked of elsewhere, and no text is cut, faint or out of the window"
    )
    func shown() throws {
        let browser = try BrowserSession(in: cache.workspace.url)
        // So that the page's policy, which is a second guard, does not hide a fault of the first.
        try browser.call("Page.setBypassCSP", ["enabled": true])
        let windows: [(Int, BrowserSession.ColorScheme)] = [
            (1280, .light), (1280, .dark), (390, .light), (390, .dark),
        ]
        for (width, scheme) in windows {
            let place = "\(width) \(scheme)"
            try browser.open(page, width: width, in: scheme)
            #expect(try browser.evaluate("typeof window.ran") as? String == "undefined")
            let elements = "[...document.querySelectorAll('script, img, iframe, b, body svg[onload]')].length"
            #expect(try browser.evaluate(elements) as? Int == 0)
            let contentWidth = try browser.evaluate("document.documentElement.scrollWidth") as? Int
            #expect(try #require(contentWidth) <= width, "\(place)")
            let faults = try #require(browser.evaluate(Self.layoutFaults) as? [String])
            #expect(faults.isEmpty, "\(place)")
            let ground = try browser.evaluate("getComputedStyle(document.body).backgroundColor") as? String
            #expect((ground == "rgb(255, 255, 255)") == (scheme == .light), "\(place): \(ground ?? "none")")
            let cells = "[...document.querySelectorAll('th[scope=row]')].map((cell) => cell.textContent)"
            let shown = Set(try #require(browser.evaluate(cells) as? [String]))
            for key in Self.hostileKeys {
                #expect(shown.contains(EscapedText(key, limit: 300).description), "\(EscapedText(key))")
            }
            let requests = browser.events.filter { $0.name == "Network.requestWillBeSent" }
                .map { ($0.parameters["request"] as? [String: Any])?["url"] as? String }
            #expect(requests == [page.absoluteString])
            let complaints = browser.events.filter {
                ["Log.entryAdded", "Runtime.consoleAPICalled", "Runtime.exceptionThrown"].contains($0.name)
            }
            #expect(complaints.isEmpty, "\(complaints)")
        }
        try browser.close()
    }

    @Test("The page's policy lets no script run that would have come into it, and fetches nothing")
    func policy() throws {
        let browser = try BrowserSession(in: cache.workspace.url)
        let intrusion = """
            new Promise((done) => {
                addEventListener("securitypolicyviolation", (event) => done(event.effectiveDirective));
                const script = document.createElement("script");
                script.text = "window.ran = 1";
                document.body.append(script);
                const image = new Image();
                image.onerror = () => done("asked");
                image.src = "http://127.0.0.1:9/";
            })
            """
        for (isBypassed, found) in [(false, "undefined"), (true, "number")] {
            try browser.call("Page.setBypassCSP", ["enabled": isBypassed])
            try browser.open(page, width: 1280, in: .light)
            let answer = try browser.evaluate(intrusion) as? String
            #expect(isBypassed ? answer == "asked" : answer != "asked", "\(answer ?? "none")")
            #expect(try browser.evaluate("typeof window.ran") as? String == found)
        }
        try browser.close()
    }

    @Test("The size after a key from right to left stays after it")
    func readingOrder() throws {
        let browser = try BrowserSession(in: cache.workspace.url)
        try browser.open(page, width: 1280, in: .light)
        // The left edges of the key's first character, and of the last digit of the size.
        let places = """
            (() => {
                const finding = [...document.querySelectorAll(".findings li")].find((item) => item.textContent.startsWith("One entry"));
                const walker = document.createTreeWalker(finding, NodeFilter.SHOW_TEXT);
                const edges = [];
                while (walker.nextNode()) {
                    for (const part of walker.currentNode.data.matchAll(/\u{5E9}|\\d(?= KiB)/g)) {
                        const range = document.createRange();
                        range.setStart(walker.currentNode, part.index);
                        range.setEnd(walker.currentNode, part.index + 1);
                        edges.push(range.getBoundingClientRect().left);
                    }
                }
                return edges;
            })()
            """
        let edges = try #require(browser.evaluate(places) as? [Double])
        try #require(edges.count == 2)
        #expect(edges[0] < edges[1], "\(edges)")
        try browser.close()
    }
}
