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
            let ours = try? PropertyListObjects.propertyList(from: data, format: nil)
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
