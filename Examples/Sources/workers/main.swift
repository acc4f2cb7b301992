import Foundation
import TypedCache

/// Four processes that need the same 50 values, each of which takes a while to make: every value is made once.
///
/// Started without arguments, it starts itself four times.
func work(in directory: URL) async throws {
    let squares = try Cache<Int>(name: "squares", directory: directory)
    for number in 0..<50 {
        let square = try await squares.fetch(forKey: number, options: LoadOptions(joins: .processes)) {
            try await Task.sleep(for: .milliseconds(2))
            print(number)
            return number * number
        }
        precondition(square == number * number)
    }
}

func startWorkers() throws -> [Int] {
    let directory = FileManager.default.temporaryDirectory.appending(path: "workers-\(UUID().uuidString)")
    try FileManager.default.createDirectory(at: directory, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: directory) }
    let workers = try (0..<4).map { _ in
        let (process, output) = (Process(), Pipe())
        process.executableURL = URL(filePath: CommandLine.arguments[0])
        process.arguments = [directory.path]
        process.standardOutput = output
        try process.run()
        return (process, output)
    }
    return workers.flatMap { process, output in
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        precondition(process.terminationStatus == 0, "a worker failed")
        return text.split(separator: "\n").compactMap { Int($0) }
    }
}

if CommandLine.arguments.count > 1 {
    try await work(in: URL(filePath: CommandLine.arguments[1], directoryHint: .isDirectory))
} else {
    let made = try startWorkers()
    print("4 processes, 50 values: made \(made.count) times, \(Set(made).count) different ones")
}
