import Foundation
import TestSupport
import Testing

/// The fuzzer's trial of frames, on streams that are known.
@Suite(.serialized) struct TransferTrialTests {
    @Test func samplesAreReadInAllPieces() throws {
        for (name, data) in try TransferTrial.samples() {
            #expect(throws: Never.self, "\(name)") { try TransferTrial.receive(data) }
        }
    }

    @Test func randomChangesAreReadOrRefused() throws {
        let samples = try TransferTrial.samples().map(\.data)
        var random = SeededGenerator(seed: 1)
        for round in 0..<rounds(2_000, short: 200) {
            var data = samples[round % samples.count]
            for _ in 0..<Int.random(in: 1...8, using: &random) {
                data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
            }
            if round % 3 == 0 { data = data.prefix(Int.random(in: 0...data.count, using: &random)) }
            #expect(throws: Never.self, "round \(round)") { try TransferTrial.receive(Data(data)) }
        }
    }

    @Test func findsAreReadOrRefused() throws {
        let folder = URL(fileURLWithPath: #filePath).appending(path: "../../../../Fuzzing/Corpus")
            .standardizedFileURL
        let finds = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
        #expect(!finds.isEmpty)
        for find in finds where !find.lastPathComponent.hasPrefix(".") {
            #expect(throws: Never.self, "\(find.lastPathComponent)") {
                try TransferTrial.receive(Data(contentsOf: find))
            }
        }
    }
}
