import Foundation
import TestSupport
import Testing

/// Streams that fuzzers found once, and broken ones by seeds, held to the fuzzer's law.
struct FuzzerFindsTests {
    @Test func finds() throws {
        let folder = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath()
            .appending(path: "../../../Fuzzing/Corpus").standardizedFileURL
        let finds = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.lastPathComponent.hasPrefix("resp-") }
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
