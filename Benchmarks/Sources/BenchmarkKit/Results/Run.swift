import Foundation

/// Everything that one run found, and where it ran.
package struct Run: Codable, Equatable, Sendable {
    package let date: Date
    /// Abbreviated.
    package let commit: String
    /// Whether the checkout had changes.
    package let isDirty: Bool
    package let isQuick: Bool
    package let toolchain: String
    package let machine: Machine
    package var findings: [Finding] = []
    /// Suites that threw, with some findings or none; `nil` in files of former versions.
    package var failedSuites: [String]? = []

    package init(date: Date, commit: String, isDirty: Bool, isQuick: Bool, toolchain: String, machine: Machine) {
        self.date = date
        self.commit = commit
        self.isDirty = isDirty
        self.isQuick = isQuick
        self.toolchain = toolchain
        self.machine = machine
    }

    /// - Throws: if the file cannot be read, or holds no run.
    package init(contentsOf file: URL) throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        self = try decoder.decode(Run.self, from: Data(contentsOf: file))
    }

    /// - Throws: if the file cannot be written.
    package func write(to file: URL) throws {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        encoder.dateEncodingStrategy = .iso8601
        try encoder.encode(self).write(to: file, options: .atomic)
    }

    /// The suites' names, in the order in which they ran.
    package var suites: [String] {
        var seen = Set<String>()
        return findings.map(\.suite).filter { seen.insert($0).inserted }
    }

    /// The name of its file: the time in UTC, and the commit.
    package var fileName: String {
        let style = Date.ISO8601FormatStyle(dateSeparator: .dash, timeSeparator: .omitted)
        let time = date.formatted(style).prefix { $0 != "Z" }
        return "\(time)-\(commit)\(isDirty ? "-dirty" : "").json"
    }
}

/// The machine that ran the benchmarks.
package struct Machine: Codable, Equatable, Sendable {
    package let processor: String
    package let cores: Int
    /// MiB.
    package let memory: Int
    package let kernel: String

    package init(processor: String, cores: Int, memory: Int, kernel: String) {
        self.processor = processor
        self.cores = cores
        self.memory = memory
        self.kernel = kernel
    }
}

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
        let text = Program.output(of: command, hidesErrors: true)
        return text?.trimmingCharacters(in: .whitespacesAndNewlines) ?? "unknown"
    }
}
