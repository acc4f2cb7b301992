import Foundation
import TestSupport
import Testing

@testable import PropertyLists

/// Other projects' property lists, sound and broken, in the folder that `TYPED_CACHE_CORPUS` names.
struct FixtureTests {
    private static var files: [URL] {
        guard let folder = ProcessInfo.processInfo.environment["TYPED_CACHE_CORPUS"] else {
            print("TYPED_CACHE_CORPUS is not set: property lists of other projects are skipped")
            return []
        }
        let url = URL(fileURLWithPath: folder).appendingPathComponent("plist")
        let files = try? FileManager.default.contentsOfDirectory(at: url, includingPropertiesForKeys: nil)
        return (files ?? []).sorted { $0.path < $1.path }
    }

    /// Lists that Foundation on Linux reads and this package refuses, or the other way round; each with its row in
    /// `docs/compatibility.md`.
    static let known: [String: String] = [
        "cpython-invalid__29_invalid_ASCII.bplist": "refused",
        "cpython-invalid__34_invalid_UTF-16.bplist": "refused",
        "cpython-invalid__38_invalid_datetime__Infinity_.bplist": "refused",
        "cpython-invalid__39_invalid_datetime__NaN_.bplist": "refused",
        "swiftfoundation__Test_82142612.bad": "refused",
        "swiftfoundation__javascriptcore_tests.plist": "refused",
        "ddplist__test-xml-utf-16be.plist": "read",
        "ddplist__test1-ascii-gnustep-base64.plist": "read",
    ]

    @Test func agreesWithFoundation() throws {
        var differences: [String: String] = [:]
        for file in Self.files {
            let data = try Data(contentsOf: file)
            let theirs = try? PropertyListSerialization.propertyList(from: data, format: nil)
            let ours = try? PropertyListObjects.propertyList(from: data)
            switch (ours, theirs) {
            case (let ours?, let theirs?):
                if !isEqual(ours, theirs) { differences[file.lastPathComponent] = "another value" }
            case (nil, _?): differences[file.lastPathComponent] = "refused"
            case (_?, nil): differences[file.lastPathComponent] = "read"
            case (nil, nil): break
            }
        }
        if !Self.files.isEmpty { #expect(differences == Self.known) }
    }

    @Test func differencesFromFoundationAreDocumented() throws {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent("docs/compatibility.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        for (name, answer) in Self.known { #expect(text.contains("| `\(name)` | \(answer) |")) }
    }

    // MARK: The table

    /// Lists in formats that Python does not know, by others of the same value.
    private static let alike = [
        "ddplist__test-xml-utf-16be.plist": "ddplist__test-xml-utf-16le-bom.plist",
        "ddplist__test-xml-utf-32be-bom.plist": "ddplist__test-xml-utf-16le-bom.plist",
        "ddplist__test-xml-utf-32le-bom.plist": "ddplist__test-xml-utf-16le-bom.plist",
        "swiftfoundation__test_oldStylePlist_getSlashedChars_octal.plist":
            "swiftfoundation__test_oldStylePlist_getSlashedChars_octal_expected.plist",
    ]

    /// The values of other lists that Python does not read, as their bytes say.
    private static let stated: [String: any Sendable] = [
        "ddplist__test1-ascii-gnustep-base64.plist": [
            "keyA": "valueA", "key&B": "value&B", "date": Date(timeIntervalSinceReferenceDate: 344_164_890),
            "data": Data([0xAA, 0xAA, 0xBB, 0xBB, 0xCC, 0xCC]),
            "array": [true, false, 87, 3.14159] as [any Sendable],
        ] as [String: any Sendable],
        "ddplist__test1-ascii-multiline-handling.plist": [
            "keyA": "valueA", "key&B": "Multi\n\t   line\n\t   string", "date": "2011-11-28T09:21:30Z",
            "data": Data([0, 0, 0, 4, 0x10, 0x41, 8, 0x20, 0x82]), "array": ["YES", "NO", "87", "3.14159"],
        ] as [String: any Sendable],
        "cpython-invalid__36_too_large_datetime__datetime_overflow_.bplist": Date(
            timeIntervalSinceReferenceDate: .init(bitPattern: 0x4250_0000_0000_0000)
        ),
        "cpython-invalid__37_too_large_datetime__timedelta_overflow_.bplist": Date(
            timeIntervalSinceReferenceDate: .init(bitPattern: 0x42e0_0000_0000_0000)
        ),
    ]

    /// Python's answer to each list and to the same list written here: `right` if the two are equal, `wrong` if not,
    /// `refused` if it does not read the first; `nil` without Python.
    private static func judgements(of files: [URL]) throws -> [String: String]? {
        let python = URL(fileURLWithPath: "/usr/bin/python3")
        guard FileManager.default.isExecutableFile(atPath: python.path) else { return nil }
        let directory = TestDirectory()
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        for file in files {
            let written = try? PropertyList.convert(Data(contentsOf: file), to: .binary)
            try written?.write(to: directory.url.appending(path: file.lastPathComponent))
        }
        let process = Process()
        process.executableURL = python
        process.arguments = [
            "-c",
            """
            import os, plistlib, sys
            def load(path):
                try:
                    return plistlib.load(open(path, 'rb'))
                except Exception:
                    return None
            for path in sys.argv[2:]:
                name = os.path.basename(path)
                theirs, ours = load(path), load(os.path.join(sys.argv[1], name))
                print(name, 'refused' if theirs is None else 'right' if repr(theirs) == repr(ours) else 'wrong', sep='\\t')
            """, directory.url.path,
        ]
        process.arguments? += files.map(\.path)
        let output = Pipe.make()
        process.standardOutput = output
        try process.start()
        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
        process.waitUntilExit()
        try #require(process.terminationStatus == 0)
        let lines = text.split(separator: "\n").map { $0.split(separator: "\t") }
        return Dictionary(uniqueKeysWithValues: lines.map { (String($0[0]), String($0[1])) })
    }

    /// The numbers of the page's table, by the answers here and of Foundation.
    private static func table() throws -> [String: Int] {
        let page = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "docs/compatibility.md")
        var numbers: [String: Int] = [:]
        for line in try String(contentsOf: page, encoding: .utf8).split(separator: "\n") {
            let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
            guard cells.count == 4, let number = Int(cells[0]) else { continue }
            numbers["here \(cells[2]), Foundation \(cells[3])", default: 0] += number
        }
        return numbers
    }

    @Test func theTableCountsEachList() throws {
        let files = Self.files
        guard !files.isEmpty else { return }
        guard let judgements = try Self.judgements(of: files) else { return print("no python3: skipped") }
        func read(_ name: String) throws -> Any {
            let file = try #require(files.first { $0.lastPathComponent == name })
            return try PropertyListObjects.propertyList(from: Data(contentsOf: file))
        }
        var numbers: [String: Int] = [:]
        for file in files {
            let name = file.lastPathComponent
            let data = try Data(contentsOf: file)
            let ours = try? PropertyListObjects.propertyList(from: data)
            let theirs = try? PropertyListSerialization.propertyList(from: data, format: nil)
            let judgement = try #require(judgements[name])
            // The right value; `nil` for a list that has none.
            var right: Any?
            if let other = Self.alike[name] {
                right = try read(other)
            } else if let stated = Self.stated[name] {
                right = stated
            } else if judgement == "right" {
                right = ours
            }
            func answer(_ value: Any?) -> String {
                guard let value else { return "refused" }
                if let right { return isEqual(value, right) ? "right" : "wrong" }
                // Python decides whether there is a value at all, not whether Foundation has the same.
                return judgement == "refused" ? "wrong" : "read"
            }
            #expect(ours == nil || answer(ours) == "right", "\(name)")
            numbers["here \(answer(ours)), Foundation \(answer(theirs))", default: 0] += 1
        }
        #expect(try Self.table() == numbers)
    }

    /// Reads bytes that may be damaged: an error has a place.
    private func tryOut(_ bytes: [UInt8]) throws {
        do throws(PropertyListError) {
            _ = try NodeTable.read(bytes, limits: PropertyListLimits(values: 100_000))
        } catch {
            try #require(error.offset != nil && !error.message.isEmpty)
        }
    }

    @Test func damageGivesAValueOrAnErrorWithAPlace() throws {
        for (number, file) in Self.files.enumerated() {
            let bytes = [UInt8](try Data(contentsOf: file))
            guard bytes.count < (isLongRun ? 2_000 : 200) else { continue }
            for length in variants(Array(0..<7), at: number) {
                for end in stride(from: length, to: bytes.count, by: 7) { try tryOut(Array(bytes[..<end])) }
            }
            for bit in variants(Array(0..<8), at: number) {
                for at in bytes.indices {
                    var damaged = bytes
                    damaged[at] ^= 1 << UInt8(bit)
                    try tryOut(damaged)
                }
            }
        }
    }
}
