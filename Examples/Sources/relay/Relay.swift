import Foundation
import KeyedArchive

/// A child process and the streams to it and from it.
struct Relay {
    let commands: ArchiveSender
    let answers: ArchiveReceiver<[SubFamily]>
    private let process = Process()

    init() throws {
        let (input, output) = (Pipe(), Pipe())
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = ["child"]
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        commands = try ArchiveSender(to: input.fileHandleForWriting)
        answers = try ArchiveReceiver(
            of: [SubFamily].self,
            allowing: [SubFamily.self],
            from: output.fileHandleForReading
        )
    }

    func wait() -> Int32 {
        process.waitUntilExit()
        return process.terminationStatus
    }

    /// Ends the child, and waits until it is gone.
    func stop() {
        process.terminate()
        process.waitUntilExit()
    }
}
