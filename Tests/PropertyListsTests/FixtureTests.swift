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

    /// Lists that this package refuses, or Foundation, each for a reason.
    static let known: [String: String] = [:]

    @Test func agreesWithFoundation() throws {
        var differences: [String] = []
        for file in Self.files {
            let data = try Data(contentsOf: file)
            let theirs = try? PropertyListSerialization.propertyList(from: data, format: nil)
            do {
                let ours = try PropertyListObjects.propertyList(from: data, format: nil)
                guard let theirs else {
                    differences.append("\(file.lastPathComponent): only we read it")
                    continue
                }
                if !isEqual(ours, theirs) { differences.append("\(file.lastPathComponent): another value") }
            } catch {
                if theirs != nil { differences.append("\(file.lastPathComponent): refused: \(error)") }
            }
        }
        if ProcessInfo.processInfo.environment["SHOW"] != nil { print(differences.joined(separator: "\n")) }
        for difference in differences {
            let name = String(difference.prefix { $0 != ":" })
            #expect(difference.hasSuffix(Self.known[name] ?? "-"), "\(difference)")
        }
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
            guard bytes.count < 2_000 else { continue }
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
