import Foundation
import TestSupport
import Testing

/// Streams that fuzzers found once, and broken ones by seeds, held to the fuzzer's law.
struct FuzzerFindsTests {
    private static func corpus(_ prefix: String) throws -> [URL] {
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .appending(path: "../../../Fuzzing/Corpus").standardizedFileURL
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix(prefix) }
    }

    @Test func topologies() throws {
        let finds = try Self.corpus("topology-")
        #expect(!finds.isEmpty)
        for find in finds {
            let bytes = [UInt8](try Data(contentsOf: find))
            #expect(throws: Never.self, "\(find.lastPathComponent)") { try TopologyTrial(bytes: bytes).run() }
            // Any part of it is an answer, too.
            for length in stride(from: 0, to: bytes.count, by: 7) {
                #expect(throws: Never.self, "\(find.lastPathComponent), \(length) bytes") {
                    try TopologyTrial(bytes: Array(bytes.prefix(length))).run()
                }
            }
        }
    }

    @Test func finds() throws {
        let finds = try Self.corpus("resp-")
        #expect(!finds.isEmpty)
        for find in finds {
            // The first byte says how the stream is cut.
            let bytes = [UInt8](try Data(contentsOf: find))
            #expect(throws: Never.self, "\(find.lastPathComponent)") {
                try AnswerTrial(bytes: Array(bytes.dropFirst())).run(partLength: Int(bytes.first ?? 0) % 16 + 1)
            }
        }
    }

    @Test(arguments: seeds(0..<100))
    func brokenStreams(seed: Int) {
        var generator = SeededGenerator(seed: seed)
        for _ in 0..<8 {
            var bytes = ValueWriter.encode(ValueTree.random(using: &generator)) { Bool.random(using: &generator) }
            for _ in 0..<Int.random(in: 0...3, using: &generator) {
                bytes[Int.random(in: bytes.indices, using: &generator)] = .random(in: 0...255, using: &generator)
            }
            #expect(throws: Never.self, "seed \(seed): \(bytes)") {
                try AnswerTrial(bytes: bytes).run(partLength: Int.random(in: 1...16, using: &generator))
            }
        }
    }
}
