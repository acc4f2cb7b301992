import ArchiveStore
import Foundation
import Sealing
import TestSupport
import Testing

@testable import CacheCommand
@testable import TypedCache

/// The command with the keys of an encrypted cache.
@Suite(.serialized) struct EncryptedCacheTests {
    let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private static let first = "1:" + String(repeating: "0a", count: 32)
    private static let second = "2:" + String(repeating: "B7", count: 32)

    private func cache(_ words: String...) -> [String] { words + ["--cache", "c", "--root", workspace.root] }

    @Test func keysAreLines() throws {
        func numbers(_ text: String) throws(KeyPlace.Fault) -> [UInt64] {
            try KeyPlace.keys(Array(text.utf8)).map(\.identifier)
        }
        #expect(try numbers("\(Self.first)\n\(Self.second)\r\n\n") == [1, 2])
        #expect(try numbers("") == [])
        for text in [
            "x", "0:" + String(repeating: "0a", count: 32), Self.first + "0", String(Self.first.dropLast()), "1:",
        ] {
            #expect(throws: KeyPlace.Fault.noKey(line: 2), "\(text)") { try numbers("\(Self.second)\n\(text)") }
        }
    }

    @Test(.enabled(if: CipherAlgorithm.isAvailable)) func entriesAreReadWithTheKeyAlone() throws {
        let keys = try workspace.file("keys", Self.first + "\n")
        let source = try workspace.file("records.ndjson", #"{"id":"a","name":"Nkomo"}"# + "\n")
        let saved = try RealTool.run(cache("warm", source, "--key", "id", "--quiet", "--key-file", keys))
        #expect(saved.status == 0, "\(saved)")
        let folder = workspace.root + "/c"
        for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
            guard let bytes = FileManager.default.contents(atPath: folder + "/" + name) else { continue }
            #expect(bytes.range(of: Data("Nkomo".utf8)) == nil)
        }
        #expect(try RealTool.run(cache("list", "--key-file", keys)).lines == ["a"])
        let locked = try RealTool.run(cache("list"))
        #expect(locked.status == 1 && locked.errors.contains("encrypted, and no key was given"), "\(locked)")

        // Another key comes first: compacting writes all with it.
        let both = try workspace.file("both", "\(Self.second)\n\(Self.first)\n")
        #expect(try RealTool.run(cache("compact", "--key-file", both)).status == 0)
        #expect(try RealTool.run(cache("list", "--key-file", keys)).status == 1)
        let options = "--cache c --root '\(workspace.root)'"
        let line = "KEYS=\(Self.second) exec \"$TOOL\" list --key-env KEYS \(options)"
        #expect(try RealTool.runInShell(line).lines == ["a"])
        let descriptor = "exec \"$TOOL\" list --key-file /dev/fd/3 \(options) 3<'\(both)'"
        #expect(try RealTool.runInShell(descriptor).lines == ["a"])
    }

    @Test func keysThatCannotBeHadAreToldWithoutTheirBytes() throws {
        let wrong = try workspace.file("wrong", "7:0a0b\n")
        let cases = [
            (["--key-file", wrong], "line 1"), (["--key-file", workspace.root + "/none"], "cannot be read"),
            (["--key-env", "NO_SUCH_VARIABLE"], "it is not set"),
        ]
        for (words, part) in cases {
            let outcome = try RealTool.run(cache("list") + words)
            #expect(outcome.status == 1 && outcome.errors.contains(part), "\(outcome)")
            #expect(!outcome.errors.contains("0a0b"))
        }
        #expect(try RealTool.run(cache("list", "--key-file", wrong, "--key-env", "X")).status == 2)
    }
}
