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
