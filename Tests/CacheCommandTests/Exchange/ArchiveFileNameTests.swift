import Testing

@testable import CacheCommand

struct ArchiveFileNameTests {
    static let keys = [
        "a", "A", "..", ".", "/", "a/b", "../../etc/passwd", "nul\0inside", "\0", " ", "🦁", "👩‍👩‍👧‍👦", "é", "e\u{301}",
        "CON", "name.", "%2F", "%", "~", "a~b", "key\n", ".hidden", "index.ndjson", "a.plist", "\u{202E}x", "\\",
        "-rf",
        String(repeating: "k", count: 194), String(repeating: "k", count: 195),
        String(repeating: "k", count: 1_024),
        String(repeating: "k", count: 1_023), String(repeating: "🦁", count: 256),
    ]

    @Test("Every key's names are safe, short, and differ", arguments: keys)
    func names(key: String) throws {
        for name in [ArchiveFileName.plain(key), ArchiveFileName.hashed(key)].compactMap(\.self) {
            #expect(name.wholeMatch(of: /[A-Za-z0-9_%~-][A-Za-z0-9_.%~-]*\.plist/) != nil, "\(name)")
            #expect(name.utf8.count <= 200)
            #expect(ArchiveFileName.isName(name, of: key) && ArchiveFileName.isArchive(name))
            #expect(!ArchiveFileName.isName(name, of: key + "x"))
        }
        #expect(throws: RejectedRecord.self) { try ArchiveFileName.key(of: ArchiveFileName.hashed(key)) }
    }

    @Test("A plain name gives its key back; only long keys have none")
    func roundTrip() throws {
        for key in Self.keys {
            guard let name = ArchiveFileName.plain(key) else {
                #expect(key.utf8.count > 60)
                continue
            }
            #expect(try Array(ArchiveFileName.key(of: name).utf8) == Array(key.utf8))
        }
        #expect(Set(Self.keys.map { ArchiveFileName.hashed($0) }).count == Self.keys.count)
        #expect(ArchiveFileName.plain("a/b c.d") == "a%2Fb%20c.d.plist")
        #expect(ArchiveFileName.plain(".") == "%2E.plist")
    }

    @Test("Names that others gave are keys too, or refused")
    func foreignNames() throws {
        #expect(try ArchiveFileName.key(of: "My City.archive") == "My City")
        #expect(try ArchiveFileName.key(of: "%c3%A9.plist") == "é")
        for name in ["%.plist", "%4.plist", "%zz.plist", "%ff.plist", "a~0.plist"] {
            #expect(throws: RejectedRecord.self, "\(name)") { try ArchiveFileName.key(of: name) }
        }
        for name in [".a.plist", "a.txt", "plist", ".plist", "a.plist~"] {
            #expect(!ArchiveFileName.isArchive(name), "\(name)")
        }
    }
}
