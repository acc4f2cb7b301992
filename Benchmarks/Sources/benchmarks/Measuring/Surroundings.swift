import Foundation

/// What figures depend on and must be told with: commit, toolchain, machine.
struct Surroundings: CustomStringConvertible {
    var description: String {
        """
        commit: \(Self.output("git", "describe", "--always", "--dirty"))
        toolchain: \(Self.output("swift", "--version").prefix { $0 != "\n" })
        processor: \(Self.processor), \(ProcessInfo.processInfo.activeProcessorCount) cores
        samples: \(Comparison.sampleCount) of each, in turns
        """
    }

    private static var processor: String {
        guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else { return "unknown" }
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }

    private static func output(_ command: String...) -> String {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = command
        process.standardOutput = pipe
        process.standardError = FileHandle.nullDevice
        do {
            try process.run()
        } catch {
            return "unknown"
        }
        let text = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return process.terminationStatus == 0 ? text.trimmingCharacters(in: .whitespacesAndNewlines) : "unknown"
    }
}
