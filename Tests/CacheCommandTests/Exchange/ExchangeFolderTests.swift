import Foundation
import Synchronization
import Testing

@testable import CacheCommand

/// How a file of an export gets its name, with hard links and without.
struct ExchangeFolderTests {
    private let workspace: Workspace
    private let folder: ExchangeFolder

    init() throws {
        workspace = try Workspace()
        folder = try ExchangeFolder(path: workspace.url.appending(path: "out").path, creating: true)
    }

    private func contents(_ name: String) throws -> String {
        try String(contentsOfFile: folder.path(of: name), encoding: .utf8)
    }

    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted()
    }

    private static func errorNumber(_ body: () throws(CommandFailure) -> Void) -> Int32? {
        do throws(CommandFailure) {
            try body()
            return nil
        } catch {
            guard case .unwritable(_, let number) = error else { return -1 }
            return number
        }
    }

    private func begin(_ text: String, as name: String) throws(CommandFailure) {
        try folder.beginFile(name).append(Array(text.utf8))
    }

    @Test("A file gets its name whole, and no draft is left", arguments: [true, false])
    func naming(hasLinks: Bool) throws {
        try begin("new", as: "a")
        if hasLinks { try folder.endFile("a") } else { try folder.renameDraft(to: "a") }
        #expect(try contents("a") == "new" && names() == ["a"])
        let mode = try FileManager.default.attributesOfItem(atPath: folder.path(of: "a"))[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }

    @Test("A name that is taken is refused as such, and its file or link stays", arguments: [true, false])
    func takenName(hasLinks: Bool) throws {
        try folder.write(Array("mine".utf8), as: "file")
        try FileManager.default.createSymbolicLink(atPath: folder.path(of: "link"), withDestinationPath: "nowhere")
        for name in ["file", "link"] {
            try begin("new", as: name)
            let number = Self.errorNumber { () throws(CommandFailure) in
                if hasLinks { try folder.endFile(name) } else { try folder.renameDraft(to: name) }
            }
            #expect(number == EEXIST, "\(name)")
            folder.giveUpFile()
        }
        #expect(try contents("file") == "mine" && names() == ["file", "link"])
    }

    @Test("A draft that is gone leaves no empty file under its name")
    func missingDraft() throws {
        #expect(Self.errorNumber { () throws(CommandFailure) in try folder.renameDraft(to: "a") } == ENOENT)
        #expect(try names().isEmpty)
    }

    @Test("Of two that take a name at once one gets it, and what it wrote stays", arguments: [true, false])
    func race(hasLinks: Bool) throws {
        let folder = folder
        for round in 0..<300 {
            let name = "n\(round)"
            let path = folder.path(of: name)
            try begin("export", as: name)
            let othersWon = Atomic<Bool>(false)
            let isTaken = Atomic<Bool>(false)
            let startedCount = Atomic<Int>(0)
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                // Both at once; not for long, since there may be one thread only.
                startedCount.add(1, ordering: .sequentiallyConsistent)
                let end = ContinuousClock.now + .milliseconds(20)
                while startedCount.load(ordering: .sequentiallyConsistent) < 2, ContinuousClock.now < end {}
                if index == 0 {
                    let file = open(path, O_WRONLY | O_CREAT | O_EXCL, 0o600)
                    guard file >= 0 else { return }
                    othersWon.store(true, ordering: .relaxed)
                    _ = write(file, "other", 5)
                    close(file)
                } else {
                    let number = Self.errorNumber { () throws(CommandFailure) in
                        if hasLinks { try folder.endFile(name) } else { try folder.renameDraft(to: name) }
                    }
                    isTaken.store(number != nil, ordering: .relaxed)
                    if let number, number != EEXIST { Issue.record("error \(number)") }
                }
            }
            let winner = othersWon.load(ordering: .relaxed)
            #expect(winner == isTaken.load(ordering: .relaxed), "round \(round)")
            #expect(try contents(name) == (winner ? "other" : "export"), "round \(round)")
            folder.giveUpFile()
        }
    }
}
