import ArchiveStore
import Foundation
import KeyedArchive
import TestSupport
import Testing

@testable import CacheCommand
@testable import TypedCache

/// `report` and `advise`, on a cache on disk.
struct ReportCommandTests {
    private let cache: DiskCache

    init() throws { cache = DiskCache(try Workspace()) }

    private static let now = Date.now

    private func fill(_ keys: [String], age: TimeInterval = 0, expiresIn: TimeInterval? = nil) throws {
        for (number, key) in keys.enumerated() {
            var attributes = EntryAttributes(
                storedAt: Self.now.addingTimeInterval(-age),
                expiresAt: expiresIn.map { Self.now.addingTimeInterval($0) }
            )
            attributes.tags = ["tag \(number % 3)"]
            try cache.save(DiskCache.archive("value of \(key)"), key, with: attributes)
        }
    }

    private func json(_ text: String) throws -> [String: Any] {
        try #require(JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])
    }

    // MARK: Report

    @Test("No key, tag or name can leave its place in the page")
    func hostileKeys() throws {
        let keys = [
            "<script>alert(1)</script>/x", "\"><img src=x onerror=alert(1)>:", "'&amp;/", "a\u{202E}b/",
            "]]>--><!--/",
            "</style><b>/", "\u{0}\u{7F}/", "😀\u{FEFF}/",
        ]
        try fill(keys)
        let page = cache.run("report").output.text
        #expect(page.hasPrefix("<!DOCTYPE html>") && page.hasSuffix("</html>\n"))
        #expect(
            !page.contains("<script") && !page.contains("<img") && !page.contains("<b>") && !page.contains("<!--")
        )
        #expect(page.contains("&lt;script&gt;alert(1)&lt;/"))
        #expect(page.unicodeScalars.allSatisfy { $0 == "\n" || !$0.isHostile })
        #expect(!page.contains("http:") && !page.contains("https:") && !page.contains("url("))
        // Every element that is opened is closed, in its order.
        var open: [Substring] = []
        for tag in page.matches(of: /<(\/?)([a-z0-9]+)[^>]*?(\/?)>/) {
            if ["meta"].contains(tag.output.2) || tag.output.3 == "/" { continue }
            if tag.output.1.isEmpty { open.append(tag.output.2) } else { #expect(open.popLast() == tag.output.2) }
        }
        #expect(open.isEmpty)
    }

    @Test("The page says where the cache is, and has no row without entries")
    func placeAndRows() throws {
        try fill(["a", "b"], expiresIn: 3_000)
        let page = cache.run("report").output.text
        let place = try #require(json(cache.run("report", "--json").output.text)["place"] as? String)
        #expect(place.hasPrefix("in \(cache.workspace.root)"))
        #expect(page.contains("<p class=\"quiet\">\(ReportPage.escaped(place))</p>"))
        let counts = page.matches(of: /<td>([0-9,]+)<\/td><\/tr>/).map { String($0.output.1) }
        #expect(!counts.isEmpty && !counts.contains("0"), "\(counts)")
    }

    @Test("The numbers are those of the entries")
    func numbers() throws {
        try fill((0..<20).map { "users/\($0)" }, age: 40 * 86_400)
        try fill((0..<10).map { "pages:\($0)" }, expiresIn: 3_000)
        try fill(["plain"], expiresIn: -10)
        let ran = cache.run("report", "--json")
        #expect(ran.status == .success, "\(ran.errors.text)")
        let report = try json(ran.output.text)
        #expect(report["entries"] as? Int == 31 && report["damaged"] as? Int == 0)
        let prefixes = try #require(report["prefixes"] as? [[String: Any]])
        let counts = Dictionary(
            uniqueKeysWithValues: prefixes.map { ($0["name"] as? String ?? "?", $0["entries"] as? Int) }
        )
        #expect(counts == ["users/": 20, "pages:": 10, "": 1])
        let tags = try #require(report["tags"] as? [[String: Any]])
        #expect(tags.compactMap { $0["entries"] as? Int }.reduce(0, +) == 31)
        let size = try #require(report["size"] as? Int)
        for part in ["prefixes", "tags", "sizes", "ages", "deadlines"] {
            let rows = try #require(report[part] as? [[String: Any]])
            #expect(rows.compactMap { $0["size"] as? Int }.reduce(0, +) == size, "\(part)")
        }
        let ages = try #require(report["ages"] as? [[String: Any]])
        #expect(ages.map { $0["entries"] as? Int } == [11, 0, 0, 0, 20, 0, 0])
        let segments = try #require(report["segments"] as? [[String: Any]])
        // A cache of files has none.
        let isPacked = report["layout"] as? String == "packed"
        #expect(segments.compactMap { $0["live"] as? Int }.reduce(0, +) == (isPacked ? size : 0))
        let findings = try #require(report["findings"] as? [String])
        #expect(findings.contains { $0.contains("saved more than 30 days ago") }, "\(findings)")
        #expect(findings.contains { $0.contains("users/") }, "\(findings)")
    }

    @Test("Entries that move their deadlines when they are read tell since when nobody has")
    func unreadEntries() throws {
        var attributes = EntryAttributes(
            storedAt: Self.now.addingTimeInterval(-90 * 86_400),
            expiresAt: Self.now.addingTimeInterval(20 * 86_400)
        )
        attributes.idleTime = 60 * 86_400
        try cache.save(DiskCache.archive("a"), "a", with: attributes)
        attributes.expiresAt = Self.now.addingTimeInterval(50 * 86_400)
        try cache.save(DiskCache.archive("b"), "b", with: attributes)
        // 33 days ago, or up to an eighth of 60 days later.
        attributes.expiresAt = Self.now.addingTimeInterval(27 * 86_400)
        try cache.save(DiskCache.archive("c"), "c", with: attributes)
        let report = try json(cache.run("report", "--json").output.text)
        #expect((report["unread"] as? [String: Any])?["entries"] as? Int == 1)
        let findings = try #require(report["findings"] as? [String])
        #expect(
            findings.contains("A third of the space is taken by entries that were not read for 30 days."),
            "\(findings)"
        )
    }

    @Test("The file is replaced whole; one that cannot be written is told, and standard output that fails is")
    func output() throws {
        try fill(["a/1", "b/2"])
        let path = try cache.workspace.file("report.html", "old")
        #expect(cache.run("report", "-o", path).status == .success)
        let text = try String(contentsOf: URL(filePath: path), encoding: .utf8)
        #expect(text.hasSuffix("</html>\n"))
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: cache.workspace.url.path).sorted() == [
                "caches", "report.html",
            ]
        )
        let failed = cache.run("report", "-o", cache.workspace.url.path + "/missing/report.html")
        #expect(failed.status == .failure && failed.errors.text.contains("cannot be written"))
        let full = MemoryOutput(room: 0, error: .failed(errno: ENOSPC))
        let ran = ToolRun(["report"] + cache.options, on: DiskCache.backend, output: full)
        #expect(ran.status == .failure && ran.errors.text.contains("standard output cannot be written"))
        let closed = ToolRun(["report"] + cache.options, on: DiskCache.backend, output: MemoryOutput(room: 0))
        #expect(closed.status == .success && closed.errors.text.isEmpty)
    }

    @Test("A finding shows a key as it is escaped once, and keys without a prefix are none")
    func findings() throws {
        try fill((0..<12).map { "\($0)" } + ["few/1", String(repeating: "a\\b", count: 300)])
        let page = cache.run("report").output.text
        #expect(page.contains(#"“<bdi>a\\ba\\b"#) && page.contains("One entry takes"))
        #expect(!page.contains("keys that begin with"))
        let findings = try #require(json(cache.run("report", "--json").output.text)["findings"] as? [String])
        #expect(findings.contains { $0.hasPrefix("One entry takes") && $0.contains(#"“a\\ba\\b"#) }, "\(findings)")
    }

    @Test("Damage is counted, an empty cache has a page, and a signal ends the walk")
    func corners() throws {
        try fill(["a/1", "b/2"])
        try cache.damageFirst()
        let report = try json(cache.run("report", "--json").output.text)
        #expect(report["damaged"] as? Int == 1 && report["entries"] as? Int == 1)
        #expect((report["findings"] as? [String])?.first?.contains("verify --repair") == true)
        #expect(cache.run("clear", "--yes").status == .success)
        #expect(cache.run("report").output.text.contains("Nothing stands out."))
    }

    // MARK: Advice

    @Test("Advice shows a curve, the knee and the present limit, and the report has them too")
    func advice() throws {
        try cache.profileUses()
        let ran = cache.run("advise")
        #expect(ran.status == .success, "\(ran.errors.text)")
        #expect(ran.output.lines.allSatisfy { $0.count <= 160 })
        #expect(ran.output.text.contains("100 %|"))
        // At the right edge, the word stands before its mark.
        #expect(ran.output.text.contains("^ knee") || ran.output.text.contains("knee ^"))
        #expect(ran.output.text.contains("The knee is at"))
        let advice = try json(cache.run("advise", "--json").output.text)
        #expect(advice["fetches"] as? Int == 3_000)
        let points = try #require(advice["points"] as? [[String: Any]])
        let ratios = points.compactMap { $0["lruHitRatio"] as? Double }
        #expect(ratios.count == points.count && ratios == ratios.sorted() && points.count > 4)
        let measured = try #require(advice["memoryHits"] as? Int)
        let present = try #require((advice["present"] as? [String: Any])?["hitRatio"] as? Double)
        #expect(abs(present - Double(measured) / 3_000) < 0.03, "\(present) and \(measured)")
        let page = cache.run("report").output.text
        #expect(page.contains("<polyline class=\"own\"") && page.contains("Size of memory"))
    }

    @Test("A cache without a profile, and one with too few fetches, are told")
    func noAdvice() throws {
        try fill(["a"])
        let none = cache.run("advise")
        #expect(none.status == .failure && none.errors.text.contains("profilesUse: true"))
        try cache.profileUses(fetches: 10)
        let few = cache.run("advise")
        #expect(few.status == .failure && few.errors.text.contains("10 fetches"))
        let file = URL(filePath: cache.workspace.root + "/c/.profile/uses")
        try Data("hostile".utf8).write(to: file)
        #expect(cache.run("advise").status == .failure)
        let report = cache.run("report")
        #expect(report.status == .success && report.errors.text.contains("profile"))
    }

    @Test("No line of a chart is wider than the terminal")
    func charts() throws {
        try cache.profileUses()
        let access = try DiskCache.backend.open(cache.selection)
        let profile = try #require(try access.useProfile())
        let advice = try #require(SizeAdvice(profile))
        for (columns, usesBraille) in [23, 40, 80, 200].flatMap({ [($0, false), ($0, true)] }) {
            let chart = CurveChart(advice, columns: columns, usesBraille: usesBraille).description
            let lines = chart.split(separator: "\n")
            #expect(lines.allSatisfy { $0.count < columns }, "\(chart)")
            #expect(lines.count >= 15)
            #expect(chart.unicodeScalars.contains { (0x2800...0x28FF).contains($0.value) } == usesBraille)
        }
    }
}
