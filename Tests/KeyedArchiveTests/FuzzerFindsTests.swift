import ArchiveTrials
import Foundation
import Testing

@testable import KeyedArchive

/// Inputs that fuzzers have found, and their seeds.
@Suite(.serialized) struct FuzzerFindsTests {
    private static let folder = URL(fileURLWithPath: #filePath)
        .appending(path: "../../../Fuzzing/Corpus").standardizedFileURL

    private static func finds() throws -> [URL] {
        try FileManager.default.contentsOfDirectory(
            at: folder,
            includingPropertiesForKeys: nil,
            options: .skipsHiddenFiles
        )
    }

    @Test func findsAreReadOrRefused() throws {
        let finds = try Self.finds()
        #expect(!finds.isEmpty)
        for find in finds { try Self.tryAll(Data(contentsOf: find), find.lastPathComponent) }
    }

    @Test func samplesAreReadAndComeBackEqual() throws {
        for (name, data) in try Trial.samples() {
            try Self.tryAll(data, name)
            #expect(throws: Never.self, "\(name)") { try ArchiveTree([UInt8](data)) }
        }
    }

    /// A sample that is refused early is no beginning for a fuzzer.
    @Test func samplesHoldObjects() throws {
        for (name, data) in try Trial.samples()
        where ["branch", "scalars", "collections", "deep", "table", "optionals"].contains(name) {
            #expect(throws: Never.self, "\(name)") {
                try KeyedUnarchiver.unarchivedObject(ofClass: Any.self, allowing: Trial.classes, from: data)
            }
        }
    }

    private static func tryAll(_ data: Data, _ name: String) throws {
        #expect(throws: Never.self, "\(name)") {
            try TreeTrial.read([UInt8](data))
            try Trial.unarchive(data)
            try Trial.decode(data)
            try Trial.roundTrip(data)
        }
    }
}
