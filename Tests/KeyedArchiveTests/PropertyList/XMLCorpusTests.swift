import Foundation
import Testing

@testable import KeyedArchive

/// XML property lists by other writers, sound and broken; Python's reader gives the content of the sound ones.
@Suite(.enabled(if: Corpus.folder != nil, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
struct XMLCorpusTests {
    /// The lists that are refused, with the code of the error.
    private static let refused: [(prefix: String, code: ArchiveError.Code)] = [
        ("swiftfoundation__Test_5616259.bad", .corrupted),  // encoding "foobar"
        ("swiftfoundation__javascriptcore_tests.plist", .corrupted),  // &#0;
        ("swiftfoundation__bad_plist.bad", .corrupted),  // invalid UTF-8, elements that never end
        ("ddplist__crash-46eba", .unknownFormat),  // "  \t<q…"
        // The old text form.
        ("ddplist__test-ascii-", .unknownFormat),
        ("ddplist__test1-ascii-", .unknownFormat),
        ("swiftfoundation__test_oldStylePlist_getSlashedChars_octal.plist", .unknownFormat),
        ("ddplist__github-issue7", .unknownFormat),  // garbage
    ]

    /// Binary lists with content that XML cannot have.
    private static let notInXML: [(prefix: String, code: ArchiveError.Code)] = [
        ("cpython-invalid__36", .unsupportedType), ("cpython-invalid__37", .unsupportedType),  // far dates
        ("cpython-invalid__38", .unsupportedType), ("cpython-invalid__39", .unsupportedType),  // no dates
        // a zero byte
        ("swiftfoundation__test_oldStylePlist_getSlashedChars_octal_expected.plist", .unsupportedType),
    ]
    /// Python's reader knows no text in these encodings.
    private static let notInPython = ["ddplist__test-xml-utf-16be.plist", "ddplist__test-xml-utf-32"]
    /// Damaged lists, which are `.corrupted`.
    private static let corrupted = [
        "cpython-invalid__", "ddplist__crash-", "ddplist__github-issue7", "swiftfoundation__Test_82142612.bad",
    ]

    private static func lists() throws -> [(name: String, data: Data)] {
        try (Corpus.files(in: "plist") + Corpus.files(in: "keyed")).map { file in
            (file.lastPathComponent, try Data(contentsOf: file))
        }
    }

    @Test func xmlListsAreReadAsPythonReadsThem() throws {
        var pairs: [(name: String, left: Data, right: Data)] = []
        for (name, data) in try Self.lists() where !data.starts(with: BinaryPropertyList.magic) {
            if let expected = Self.refused.first(where: { name.hasPrefix($0.prefix) }) {
                #expect(code { try KeyedArchiver.convert(data, to: .binary) } == expected.code, "\(name)")
                continue
            }
            let binary = try KeyedArchiver.convert(data, to: .binary)
            if !Self.notInPython.contains(where: { name.hasPrefix($0) }) { pairs.append((name, data, binary)) }
        }
        #expect(pairs.count > 40)
        #expect(try Tool.differences(pairs) == [])
    }

    @Test func binaryListsBecomeXMLAndComeBack() throws {
        var pairs: [(name: String, left: Data, right: Data)] = []
        var refused: [String: ArchiveError.Code] = [:]
        for (name, data) in try Self.lists() where data.starts(with: BinaryPropertyList.magic) {
            do throws(ArchiveError) {
                let xml = try KeyedArchiver.convert(data, to: .xml)
                pairs.append((name, data, xml))
                pairs.append((name, xml, try KeyedArchiver.convert(xml, to: .binary)))
            } catch {
                #expect(!error.message.isEmpty)
                refused[name] = error.code
            }
        }
        #expect(pairs.count > 120)
        #expect(try Tool.differences(pairs) == [])
        let unexpected = refused.filter { name, code in
            code != (Self.corrupted.contains { name.hasPrefix($0) } ? .corrupted : nil)
                && code != Self.notInXML.first { name.hasPrefix($0.prefix) }?.code
        }
        #expect(unexpected == [:])
    }
}
