import Foundation
import TestSupport
import Testing

@testable import CacheWorker

/// The torture as people and scripts meet it: a process with arguments, signals and an exit code.
@Suite(.serialized) struct TortureCommandTests {
    private let directory = TestDirectory()

    init() throws { try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true) }

    private func start(_ arguments: String...) throws -> (Process, output: Pipe, errors: Pipe) {
        let process = Process()
        process.executableURL = try ProcessTests.executable
        process.arguments = arguments + ["--scratch", directory.url.path]
        let (output, errors) = (Pipe.make(), Pipe.make())
        process.standardOutput = output
        process.standardError = errors
        try process.start()
        return (process, output, errors)
    }

    private var isClean: Bool {
        get throws { try FileManager.default.contentsOfDirectory(atPath: directory.url.path).isEmpty }
    }

    @Test func tellsInJSONWhatWasDone() throws {
        let (process, output, errors) = try start("torture", "kills", "--kills", "3", "--seed", "7", "--json")
        let data = output.fileHandleForReading.readDataToEndOfFile()
        let prose = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        let json = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(json["seed"] as? Int == 7 && json["violationCount"] as? Int == 0)
        let part = try #require((json["parts"] as? [[String: Any]])?.first)
        #expect(part["part"] as? String == "kills" && (part["figures"] as? [String: Int])?["kills"] == 3)
        #expect(prose.contains("seed 7") && prose.contains("kills: 3 kills") && prose.contains("nothing wrong"))
        #expect(try isClean)
    }

    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"), arguments: ["kills", "processes"])
    func endsCleanlyWhenInterrupted(part: String) throws {
        let (process, output, errors) = try start("torture", part, "--seconds", "120")
        // It says how far it is once it is at work.
        var told = Data()
        while !String(decoding: told, as: UTF8.self).contains("nothing wrong") {
            let more = errors.fileHandleForReading.availableData
            try #require(!more.isEmpty)
            told += more
        }
        kill(process.processIdentifier, SIGINT)
        let result = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        _ = errors.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        #expect(process.terminationReason == .exit && process.terminationStatus == 128 + SIGINT)
        #expect(result.contains("nothing wrong"))
        #expect(try isClean)
    }

    @Test(arguments: [
        ["torture", "kittens"], ["torture", "--minutes"], ["torture", "--kills", "no"], ["walk"], ["work"],
    ])
    func refusesWhatItDoesNotUnderstand(arguments: [String]) throws {
        #expect(throws: TortureError.self) { try WorkerCommand(arguments) }
    }
}
