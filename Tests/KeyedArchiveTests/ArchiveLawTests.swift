import Foundation
import Testing

@testable import KeyedArchive

/// The law of interoperability: every archive that can be read at all opens as a tree, and is written back,
/// binary and XML, so that every reader takes it for the original.
@Suite(.enabled(if: Corpus.folder != nil, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
struct ArchiveLawTests {
    /// The archives that are refused, with the code of the error.
    private static let broken: [(prefix: String, code: ArchiveError.Code)] = [
        ("kiler-broken__invalidContainer", .corrupted),  // $top is a Boolean
        ("kiler-broken__invalidObjectDeclarationContainer", .corrupted),  // the class is a Boolean
        ("kiler-broken__invalidReference", .corrupted),  // reference to object 5 of 3
        ("kiler-broken__objectWithNoClassName", .corrupted),
        ("kiler-broken__objectWithNonArrayClassChain", .corrupted),
        ("kiler-broken__objectWithNonStringClassName", .corrupted),
    ]

    struct Rewritten {
        let name: String
        let original: Data
        let tree: ArchiveTree
        let binary: Data
        let xml: Data

        var isXML: Bool { !original.starts(with: BinaryPropertyList.magic) }
    }

    private static func rewritten() throws -> [Rewritten] {
        var all: [Rewritten] = []
        for file in try Corpus.files(in: "keyed") {
            let name = file.lastPathComponent
            if broken.contains(where: { name.hasPrefix($0.prefix) }) { continue }
            let data = try Data(contentsOf: file)
            let tree = try ArchiveTree(data)
            all.append(
                Rewritten(
                    name: name,
                    original: data,
                    tree: tree,
                    binary: try tree.archivedData(),
                    xml: try tree.archivedData(as: .xml)
                )
            )
        }
        #expect(all.count > 60)
        return all
    }

    @Test func brokenArchivesAreRefusedWithTheirReason() throws {
        var refused = 0
        for file in try Corpus.files(in: "keyed") {
            let name = file.lastPathComponent
            guard let expected = Self.broken.first(where: { name.hasPrefix($0.prefix) }) else { continue }
            let data = try Data(contentsOf: file)
            #expect(code { try ArchiveTree(data) } == expected.code, "\(name)")
            // The unarchiver ignores an object's chain of classes, so it does not notice a fault there.
            let found = code { try KeyedUnarchiver.unarchivedObject(ofClass: NSNull.self, from: data) }
            #expect(found == (name.contains("ClassChain") ? .classNotAllowed : expected.code), "\(name)")
            refused += 1
        }
        #expect(refused == 2 * Self.broken.count)
        for form in ["bin", "xml"] {
            let data = try Data(contentsOf: Corpus.file("keyed/kiler-broken__missingRoot.\(form).plist"))
            #expect(code { try KeyedUnarchiver.unarchivedObject(ofClass: Bool.self, from: data) } == .missingValue)
            #expect(try ArchiveTree(data).value(at: "nonRoot") == .bool(true))
        }
    }

    @Test func weReadTheSame() throws {
        for archive in try Self.rewritten() {
            #expect(try ArchiveTree(archive.binary) == archive.tree, "\(archive.name)")
            #expect(try ArchiveTree(archive.xml) == widened(archive.tree), "\(archive.name)")
            // A second time nothing changes, not even a byte.
            #expect(try ArchiveTree(archive.binary).archivedData() == archive.binary, "\(archive.name)")
            #expect(try ArchiveTree(archive.xml).archivedData(as: .xml) == archive.xml, "\(archive.name)")
            // The same errors too.
            let codes = [archive.original, archive.binary, archive.xml].map { data in
                code { try KeyedUnarchiver.unarchivedObject(ofClass: NSDictionary.self, from: data) }
            }
            #expect(codes[0] == codes[1] && codes[0] == codes[2], "\(archive.name): \(codes)")
        }
    }

    @Test func pythonReadsTheSame() throws {
        let all = try Self.rewritten()
        let pairs =
            all.map { ($0.name, $0.original, $0.binary) }
            + all.map { ($0.name + " in XML", $0.original, $0.xml) }
        #expect(try Tool.differences(pairs) == [])
    }

    @Test func plutilPrintsTheSame() throws {
        let all = try Self.rewritten()
        // One process for each form. The order of dictionaries is not a part of the law, nor are addresses.
        func printed(_ datas: [Data]) throws -> [String] {
            try Tool.withFolder { folder in
                let files = try datas.enumerated().map { index, data in
                    let file = folder.appending(path: "\(index).plist")
                    try data.write(to: file)
                    return file.path
                }
                return try Tool.run([Tool.plutil, "-p"] + files).split(separator: "\n").map { line in
                    String(line.replacing(/UID: 0x[0-9a-f]+/, with: "UID"))
                }
            }
        }
        let original = try printed(all.map(\.original)).sorted()
        #expect(original.count > 1_000)
        #expect(try printed(all.map(\.binary)).sorted() == original)
        #expect(try printed(all.map(\.xml)).sorted() == original)
    }

    @Test(.enabled(if: Bpylist.isThere, "Scripts/test installs bpylist2"))
    func bpylistReadsTheSame() throws {
        // It takes UIDs from the binary form only, so each original is compared in its own form.
        let all = try Self.rewritten()
        let original = try Bpylist.read(all.map(\.original))
        #expect(original == (try Bpylist.read(all.map { $0.isXML ? $0.xml : $0.binary })))
        #expect(original.count == all.count)
        #expect(original.filter { $0.hasPrefix("ok") }.count > 5)
    }
}

/// The Python package bpylist2, which reads keyed archives and knows some classes.
enum Bpylist {
    static let isThere =
        (try? Tool.run(["python3", "-c", "import importlib.util as u, sys; sys.exit(not u.find_spec('bpylist2'))"]))
        != nil

    /// Python's result for each archive: a value, or the kind of its error.
    static func read(_ archives: [Data]) throws -> [String] {
        try Tool.withFolder { folder in
            for (index, data) in archives.enumerated() { try data.write(to: folder.appending(path: "\(index)")) }
            return try Tool.run(["python3", "-c", script, folder.path, "\(archives.count)"])
                .split(separator: "\n").map(String.init)
        }
    }

    private static let script = """
        import sys
        from bpylist2 import archiver
        for index in range(int(sys.argv[2])):
            try: print('ok', repr(archiver.unarchive(open(f'{sys.argv[1]}/{index}', 'rb').read())))
            except Exception as error: print(type(error).__name__, str(error).split(' in ')[0].split('{')[0])
        """
}
