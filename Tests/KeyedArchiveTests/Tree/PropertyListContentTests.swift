import Foundation
import Testing

@testable import KeyedArchive

struct PropertyListContentTests {
    private static let sample = PropertyListContent.Value.dictionary([
        .init(key: "null", value: .null),
        .init(
            key: "numbers",
            value: .array([.integer(-1), .unsigned(.max), .float(0.5), .real(-0.0), .bool(true)])
        ),
        .init(key: "text", value: .string("Löwe\u{1F981}")),
        .init(key: "data", value: .data(Data([1, 2, 3]))),
        .init(key: "date", value: .date(Date(timeIntervalSinceReferenceDate: 0.25))),
        .init(key: "set", value: .set([.string("a"), .string("b")])),
        .init(key: "reference", value: .reference(70_000)),
        .init(key: "", value: .dictionary([])),
    ])

    @Test func whatIsWrittenIsRead() throws {
        let content = try PropertyListContent(PropertyListContent.binary(Self.sample))
        #expect(content.isBinary)
        #expect(content.value == Self.sample)
    }

    @Test func xmlSaysTheSame() throws {
        let value = PropertyListContent.Value.array([.integer(1), .string("&"), .reference(3), .dictionary([])])
        let xml = try KeyedArchiver.convert(PropertyListContent.binary(value), to: .xml)
        let content = try PropertyListContent(xml)
        #expect(!content.isBinary)
        #expect(content.value == value)
    }

    @Test func deepValuesAreRefusedAndNotFollowed() throws {
        func nested(_ levels: Int) -> PropertyListContent.Value {
            (0..<levels).reduce(.integer(1)) { inner, _ in .array([inner]) }
        }
        let deepest = try PropertyListContent.binary(nested(512))
        #expect(try PropertyListContent(deepest).value == nested(512))
        #expect { try PropertyListContent.binary(nested(513)) } throws: { error in
            (error as? ArchiveError)?.code == .limitExceeded
        }
    }

    @Test func aReferenceThatNoArchiveCanHoldIsRefused() {
        #expect { try PropertyListContent.binary(.reference(-1)) } throws: { error in
            (error as? ArchiveError)?.code == .outOfRange
        }
    }

    @Test func findsAreReadOrRefused() throws {
        let folder = URL(fileURLWithPath: #filePath).appending(path: "../../../../Fuzzing/Corpus")
            .standardizedFileURL
        let finds = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { !$0.lastPathComponent.hasPrefix(".") }
        #expect(!finds.isEmpty)
        var refused: Set<String> = []
        for find in finds {
            let bytes = try Data(contentsOf: find)
            do throws(ArchiveError) {
                _ = try PropertyListContent(bytes)
            } catch {
                refused.insert(find.lastPathComponent)
            }
        }
        // They hold themselves, or the same part again and again.
        #expect(refused.isSuperset(of: ["array-in-itself-inline", "count-that-overflows", "xml-unclosed"]))
    }
}
