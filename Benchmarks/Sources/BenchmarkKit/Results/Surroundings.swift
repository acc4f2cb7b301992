import Foundation

/// Finds out where the benchmarks run: figures depend on the surroundings and must be told with them.
enum Surroundings {
    /// A run that starts now.
    ///
    /// - Parameter folder: a folder of the measured checkout.
    static func makeRun(isQuick: Bool, folder: URL) -> Run {
        let commit = output("git", "-C", folder.path, "describe", "--always", "--exclude", "*", "--dirty")
        return Run(
            date: Date(),
            commit: String(commit.split(separator: "-").first ?? "unknown"),
            isDirty: commit.hasSuffix("-dirty"),
            isQuick: isQuick,
            toolchain: String(output("swift", "--version").prefix { $0 != "\n" }),
            machine: Machine(
                processor: processor,
                cores: ProcessInfo.processInfo.activeProcessorCount,
                memory: Int(ProcessInfo.processInfo.physicalMemory >> 20),
                kernel: output("uname", "-sr")
            )
        )
    }

    private static var processor: String {
        guard let text = try? String(contentsOfFile: "/proc/cpuinfo", encoding: .utf8) else {
            return output("sysctl", "-n", "machdep.cpu.brand_string")
        }
        let line = text.split(separator: "\n").first { $0.hasPrefix("model name") }
        return line?.split(separator: ":").last.map { $0.trimmingCharacters(in: .whitespaces) } ?? "unknown"
    }

    /// The output of a command, or `unknown`: figures without it are better than none.
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
