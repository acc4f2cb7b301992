import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// A report as one HTML page, with its style and drawings in it, and no script.
struct ReportPage: CustomStringConvertible {
    private let contents: ReportContents
    private let census: EntryCensus

    init(_ contents: ReportContents) {
        self.contents = contents
        census = contents.census
    }

    /// Segments beyond this number are summed up.
    private static let mostSegments = 60

    /// Text for an HTML element or a quoted attribute, in which no key can begin a tag or turn the reading direction.
    ///
    /// - Parameter limit: how many characters are shown at most.
    static func escaped(_ text: String, limit: Int = 300) -> String {
        var escaped = ""
        for scalar in EscapedText(text, limit: limit).description.unicodeScalars {
            switch scalar {
            case "&": escaped += "&amp;"
            case "<": escaped += "&lt;"
            case ">": escaped += "&gt;"
            case "\"": escaped += "&quot;"
            case "'": escaped += "&#39;"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    var description: String {
        let name = Self.escaped(contents.name)
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta name="color-scheme" content="light dark">
            <meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">
            <title>\(name) – cache report</title>
            <style>
            \(Self.style)
            </style>
            </head>
            <body>
            <main>
            <h1>\(name)</h1>
            <p class="quiet">\(time(census.date)), \(contents.overview.layout == .files ? "a file for each entry" : "packed"), \
            last change \(contents.overview.lastChange.map(time) ?? "unknown")</p>
            <p class="quiet">\(Self.escaped(contents.place))</p>
            \(facts)
            \(findings)
            \(advice)
            \(groups("Space by prefix", note: "Keys up to their first / or :", census.prefixes))
            \(groups("Space by tag", note: "An entry with several tags counts for each", census.tags))
            \(classes("Sizes", note: "Entries by their bytes on disk", census.sizes))
            \(classes("Ages", note: "Space by the time since entries were saved", census.ages))
            \(classes("Deadlines", note: "Space by the time at which entries expire", census.deadlines))
            \(compression)
            \(segments)
            \(largest)
            </main>
            </body>
            </html>

            """
    }

    /// A time to the second, which no line break divides.
    private func time(_ date: Date) -> String {
        let second = Date(timeIntervalSinceReferenceDate: date.timeIntervalSinceReferenceDate.rounded(.down))
        return "<time>\(InstantText.text(second))</time>"
    }

    // MARK: Parts

    private var facts: String {
        let facts = [
            ("entries", CountText(census.count).description),
            ("of entries", ByteText(census.byteCount).description),
            ("of files", ByteText(contents.overview.byteCount).description),
            ("expired", CountText(census.expired.count).description),
            ("damaged", CountText(census.damagedCount).description),
        ]
        let items = facts.map { "<div><dt>\($0.0)</dt><dd>\($0.1)</dd></div>" }
        return "<dl class=\"facts\">\(items.joined())</dl>"
    }

    private func section(_ title: String, note: String, _ body: String) -> String {
        "<section>\n<h2>\(title)</h2>\n<p class=\"quiet\">\(note)</p>\n\(body)\n</section>"
    }

    private var findings: String {
        let findings = contents.findings
        guard !findings.isEmpty else { return "<section><h2>Findings</h2>\n<p>Nothing stands out.</p>\n</section>" }
        let items = findings.map { finding in
            // A name from right to left would take the number after it to its other side.
            let name = finding.name.map { "“<bdi>\(Self.escaped($0, limit: ReportFinding.longestName))</bdi>”" }
            return "<li>\(Self.escaped(finding.beginning))\(name ?? "")\(Self.escaped(finding.end))</li>"
        }
        return
            "<section><h2>Findings</h2>\n<ul class=\"findings\">\(items.joined(separator: "\n"))</ul>\n</section>"
    }

    private func groups(_ title: String, note: String, _ groups: EntryGroups) -> String {
        let shown = groups.largest(EntryGroups.mostShown)
        guard !shown.isEmpty else { return "" }
        let rows = shown.map { (name: $0.name.isEmpty ? "(no prefix)" : $0.name, tally: $0.tally) }
        return section(title, note: note, bars(rows))
    }

    /// A table of the classes that have entries; nothing if none has.
    private func classes(_ title: String, note: String, _ classes: [TallyClass]) -> String {
        let rows = classes.filter { $0.tally.count > 0 }.map { (name: $0.name, tally: $0.tally) }
        return rows.isEmpty ? "" : section(title, note: note, bars(rows))
    }

    /// A table with a bar in each row, as long as its part of the space.
    ///
    /// - Parameter hasCounts: whether the rows tell how many entries they are of.
    private func bars(_ rows: [(name: String, tally: EntryTally)], hasCounts: Bool = true) -> String {
        let most = max(1, rows.map(\.tally.byteCount).max() ?? 1)
        let lines = rows.map { row in
            let width = DecimalText(100 * Double(row.tally.byteCount) / Double(most), fractionDigits: 1)
            return """
                <tr><th scope="row">\(Self.escaped(row.name))</th>\
                <td class="bar"><span style="width:\(width)%"></span></td>\
                <td>\(ByteText(row.tally.byteCount))</td>\(hasCounts ? "<td>\(CountText(row.tally.count))</td>" : "")</tr>
                """
        }
        return """
            <table><thead><tr><th scope="col"></th><td class="bar"></td><th scope="col">Size</th>\(hasCounts ? "<th scope=\"col\">Entries</th>" : "")</tr></thead>
            <tbody>
            \(lines.joined(separator: "\n"))
            </tbody></table>
            """
    }

    private var compression: String {
        guard census.byteCount > 0 else { return "" }
        var sentences = [
            "Archives of \(ByteText(census.archiveByteCount)) take \(ByteText(census.byteCount)) on disk, keys and heads "
                + "included: \(SizeAdviceText.percent(Double(census.byteCount) / Double(max(1, census.archiveByteCount))))."
        ]
        let sample = census.sample
        if sample.count > 0, contents.overview.layout != .files {
            let saved = 1 - Double(sample.byteCount) / Double(max(1, sample.aloneByteCount))
            sentences.append(
                saved >= 0.005
                    ? "In a sample of \(CountText(sample.count, "entry", plural: "entries")), the dictionaries save "
                        + "\(SizeAdviceText.percent(saved)) of the space that compression of each entry by itself would take."
                    : "In a sample of \(CountText(sample.count, "entry", plural: "entries")), dictionaries save nothing."
            )
        }
        return section("Compression", note: "", sentences.map { "<p>\($0)</p>" }.joined(separator: "\n"))
            .replacing("<p class=\"quiet\"></p>\n", with: "")
    }

    private var segments: String {
        let all = contents.segments
        guard !all.isEmpty else { return "" }
        let most = max(1, all.map(\.byteCount).max() ?? 1)
        let bars = all.prefix(Self.mostSegments).map { segment in
            let live = min(segment.liveByteCount, segment.byteCount)
            let width = { (bytes: Int) in DecimalText(100 * Double(bytes) / Double(most), fractionDigits: 2) }
            return """
                <div class="segment" title="segment \(segment.number): \(ByteText(live)) live, \(ByteText(segment.byteCount - live)) other">\
                <i class="live" style="width:\(width(live))%"></i><i class="dead" style="width:\(width(segment.byteCount - live))%"></i></div>
                """
        }
        let more = all.count - bars.count
        let note =
            "\(CountText(all.count, "segment", plural: "segments")) of \(ByteText(contents.segmentByteCount)), of which "
            + "\(ByteText(contents.deadByteCount)) are dead, heads of segments included; the oldest first"
        return section(
            "Segments",
            note: note,
            "<p class=\"legend\"><i class=\"live\"></i> live <i class=\"dead\"></i> dead</p>\n"
                + bars.joined(separator: "\n")
                + (more > 0 ? "\n<p class=\"quiet\">and \(CountText(more)) more</p>" : "")
        )
    }

    private var largest: String {
        guard !census.largest.isEmpty else { return "" }
        return section(
            "Largest entries",
            note: "Bytes on disk",
            bars(
                census.largest.map { (name: $0.key, tally: EntryTally(count: 1, byteCount: $0.byteCount)) },
                hasCounts: false
            )
        )
    }

    private var advice: String {
        guard let profile = contents.profile, let advice = contents.advice else { return "" }
        let sentences = SizeAdviceText(advice, profile).sentences.map { "<p>\(Self.escaped($0))</p>" }
        return section(
            "Size of memory",
            note: "Share of fetches that memory of each size answers, estimated",
            CurveDrawing(advice).description + "\n" + sentences.joined(separator: "\n")
        )
    }

    private static let style = """
        :root{--ground:#fff;--text:#1c1c1e;--quiet:#5f6368;--line:#d9dce1;--bar:#2f6fde;--dead:#d98324;--card:#f5f6f8}
        @media (prefers-color-scheme:dark){:root{--ground:#16181c;--text:#e8eaed;--quiet:#a0a6ad;--line:#3a3f47;--bar:#6ea1ff;--dead:#e7a14e;--card:#20242a}}
        *{box-sizing:border-box}
        body{margin:0;background:var(--ground);color:var(--text);font:16px/1.45 system-ui,sans-serif}
        main{max-width:60rem;margin:0 auto;padding:1.5rem 1rem 3rem}
        h1{font-size:1.7rem;margin:0;overflow-wrap:anywhere}
        h2{font-size:1.15rem;margin:0 0 .25rem}
        section{margin-top:2rem}
        p{margin:.25rem 0 .5rem}
        time{white-space:nowrap}
        .quiet{color:var(--quiet);font-size:.875rem}
        .facts{display:grid;grid-template-columns:repeat(auto-fit,minmax(7.5rem,1fr));gap:.75rem;margin:1rem 0}
        .facts div{background:var(--card);border-radius:.5rem;padding:.6rem .8rem;display:flex;flex-direction:column-reverse}
        .facts dt{color:var(--quiet);font-size:.8rem}
        .facts dd{margin:0;font-size:1.25rem;font-variant-numeric:tabular-nums}
        .findings li{margin:.3rem 0;overflow-wrap:anywhere}
        table{width:100%;border-collapse:collapse;font-size:.9rem;table-layout:fixed}
        th,td{padding:.25rem .4rem;text-align:right;font-weight:normal;vertical-align:top;border-bottom:1px solid var(--line);font-variant-numeric:tabular-nums}
        thead th{color:var(--quiet);font-size:.8rem}
        th[scope=row],thead th:first-child{text-align:left;overflow-wrap:anywhere;unicode-bidi:isolate;width:34%}
        th:nth-child(3){width:6.2rem}th:nth-child(4){width:5.6rem}
        td.bar{padding-left:0;padding-right:0;text-align:left}
        .bar span{display:block;height:.8rem;margin-top:.25rem;background:var(--bar);border-radius:2px}
        .segment{display:flex;height:.55rem;margin:2px 0;background:var(--card)}
        .live{background:var(--bar)}.dead{background:var(--dead)}
        .legend i{display:inline-block;width:.8rem;height:.8rem;border-radius:2px}.legend .dead{margin-left:.6rem}
        figure{margin:0}
        svg{display:block;width:100%;height:auto}
        svg text{fill:var(--quiet);font:13px system-ui,sans-serif}
        .grid{stroke:var(--line);stroke-width:1}.own{fill:none;stroke:var(--bar);stroke-width:2.5}
        .lru{fill:none;stroke:var(--dead);stroke-width:2;stroke-dasharray:5 4}.mark{stroke:var(--text);stroke-dasharray:2 3}
        @media (max-width:34rem){svg text{font-size:24px}thead td.bar{display:none}tr{display:flex;flex-wrap:wrap;border-bottom:1px solid var(--line)}\
        th,td,th:nth-child(3){border:0;width:5.6rem}th[scope=row],thead th:first-child{flex:1 1 0;min-width:0;width:auto}\
        td.bar{order:1;width:100%;padding:0}.bar span{height:3px;margin:0}}
        """
}

/// The curve of hits by the size of memory, as SVG.
struct CurveDrawing: CustomStringConvertible {
    let description: String

    private static let (width, height) = (720.0, 320.0)
    private static let (left, right, top, bottom) = (84.0, 20.0, 64.0, 48.0)

    init(_ advice: SizeAdvice) {
        let scale = LogarithmicScale(advice.points)
        let number = { (value: Double) in DecimalText(value, fractionDigits: 1).description }
        let x = { (byteCount: Int) in
            number(Self.left + scale.place(of: Double(byteCount)) * (Self.width - Self.left - Self.right))
        }
        let y = { (share: Double) in number(Self.top + (1 - share) * (Self.height - Self.top - Self.bottom)) }
        func line(_ name: String, _ share: (SizeAdvice.Point) -> Double) -> String {
            let points = advice.points.map { "\(x($0.byteCount)),\(y(share($0)))" }
            return "<polyline class=\"\(name)\" points=\"\(points.joined(separator: " "))\"/>"
        }
        var parts: [String] = []
        for share in [0, 0.5, 1] {
            parts.append(
                "<line class=\"grid\" x1=\"\(number(Self.left))\" x2=\"\(number(Self.width - Self.right))\" y1=\"\(y(share))\" y2=\"\(y(share))\"/>"
            )
            parts.append(
                "<text x=\"\(number(Self.left - 6))\" y=\"\(y(share))\" text-anchor=\"end\" dominant-baseline=\"middle\">\(Int(share * 100))%</text>"
            )
        }
        let last = advice.points.count - 1
        for (index, anchor) in [(0, "start"), (last / 2, "middle"), (last, "end")] {
            let size = advice.points[index].byteCount
            parts.append(
                "<text x=\"\(x(size))\" y=\"\(number(Self.height - 12))\" text-anchor=\"\(anchor)\">\(ByteText(size))</text>"
            )
        }
        for (point, name, offset) in [(advice.knee, "knee", 26.0), (advice.present, "limit", 54.0)] {
            guard let point else { continue }
            let place = scale.place(of: Double(point.byteCount))
            let anchor = place > 0.5 ? "end" : "start"
            parts.append(
                "<line class=\"mark\" x1=\"\(x(point.byteCount))\" x2=\"\(x(point.byteCount))\" y1=\"\(number(offset - 8))\" y2=\"\(y(0))\"/>"
            )
            let shift = place > 0.5 ? -5.0 : 5.0
            let at = Self.left + place * (Self.width - Self.left - Self.right) + shift
            parts.append(
                "<text x=\"\(number(at))\" y=\"\(number(offset))\" text-anchor=\"\(anchor)\">\(name)</text>"
            )
        }
        parts.append(line("lru", \.leastRecentlyUsed))
        parts.append(line("own", \.hitRatio))
        description = """
            <figure><svg viewBox="0 0 \(Int(Self.width)) \(Int(Self.height))" role="img" aria-label="Hits by the size of memory">
            \(parts.joined(separator: "\n"))
            </svg>
            <figcaption class="quiet">The line is the cache’s own policy; the dashes are LRU.</figcaption></figure>
            """
    }
}
