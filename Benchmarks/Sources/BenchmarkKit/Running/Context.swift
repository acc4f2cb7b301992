import Foundation

/// The settings, scratch folders and measuring functions of a suite, and its findings.
package final class Context {
    package let extent: Extent
    /// Where traces of cache accesses are, if anywhere: `TYPED_CACHE_TRACES`.
    package let traces: URL?

    let suite: String
    var effort: Effort { extent.effort }
    /// Whether suites do the smaller sizes only.
    package var isQuick: Bool { extent != .full }
    /// Whether each work is done about once, to see that it runs.
    package var isOnce: Bool { extent == .once }
    /// How many samples are taken of each subject.
    package var rounds: Int { effort.rounds }
    private let folders: ScratchFolders
    private let line: ProgressLine
    private(set) var findings: [Finding] = []

    init(suite: String, extent: Extent, traces: URL?, folders: ScratchFolders, line: ProgressLine) {
        self.suite = suite
        self.extent = extent
        self.traces = traces
        self.folders = folders
        self.line = line
    }

    /// Shows the current work on a terminal.
    package func progress(_ text: String) {
        line.show("\(suite): \(text)")
    }

    /// A new, empty folder that is removed at the end of the run.
    ///
    /// - Parameter inMemory: whether it should be on a file system in memory; it is on disk where there is none.
    /// - Throws: if it cannot be made.
    package func makeFolder(_ name: String, inMemory: Bool = false) throws -> URL {
        try folders.make(name, inMemory: inMemory)
    }

    /// Records an outcome that none of the other calls makes.
    package func record(
        work: String,
        parameters: [String: String] = [:],
        subject: String,
        isOurs: Bool = false,
        outcome: Outcome
    ) {
        findings.append(
            Finding(
                suite: suite,
                work: work,
                parameters: parameters,
                subject: subject,
                isOurs: isOurs,
                outcome: outcome
            )
        )
    }
}

extension Context {
    /// Measures several ways to do the same work, in turns, so that other load on the machine meets all of them, and
    /// compares each, pair by pair, with the first that is ours.
    ///
    /// - Parameters:
    ///   - work: the name of the work, as a verb with its object.
    ///   - parameters: the parameters of the work, by name; numbers may have a unit (`1 KiB`).
    ///   - processorTime: whether the samples' processor time is a finding of its own, in all threads: a subject that
    ///     works on several processors takes more of that than time.
    /// - Throws: the errors of a subject.
    package func compare(
        work: String,
        parameters: [String: String] = [:],
        processorTime: Bool = false,
        subjects: [Subject]
    ) throws {
        progress(work)
        var samplers = subjects.map { Sampler($0) }
        for index in samplers.indices { try samplers[index].calibrate(for: effort.sampleDuration) }
        for round in 0..<effort.rounds {
            for turn in samplers.indices {
                // Another one begins each round: none always follows the same one.
                try samplers[(round + turn) % samplers.count].sample()
            }
        }
        var taken: [TakenSamples] = []
        for index in samplers.indices {
            let allocations = try samplers[index].allocations()
            let subject = samplers[index].subject
            taken.append(
                TakenSamples(
                    subject.name,
                    isOurs: subject.isOurs,
                    nanoseconds: samplers[index].samples,
                    processorNanoseconds: processorTime ? samplers[index].processorSamples : nil,
                    allocations: allocations,
                    bytes: subject.bytes
                )
            )
        }
        compare(work: work, parameters: parameters, taken)
    }

    /// Compares samples that the suite has taken itself, in turns, pair by pair with those of the first subject that is
    /// ours.
    ///
    /// - Parameter taken: as many samples of each subject. Processor time, where there is any, is a finding of its own.
    package func compare(work: String, parameters: [String: String] = [:], _ taken: [TakenSamples]) {
        func record(_ work: String, allocations: Bool, _ samples: (TakenSamples) -> [Double]?) {
            let ours = taken.first { $0.isOurs }.flatMap(samples)
            for subject in taken {
                guard let nanoseconds = samples(subject) else { continue }
                let figures = TimeFigures(
                    nanoseconds: Summary(nanoseconds),
                    ratio: ours.map { Summary(ratiosOf: nanoseconds, to: $0) },
                    allocations: allocations ? subject.allocations : nil,
                    bytes: subject.bytes
                )
                self.record(
                    work: work,
                    parameters: parameters,
                    subject: subject.name,
                    isOurs: subject.isOurs,
                    outcome: .time(figures)
                )
            }
        }
        record(work, allocations: true) { $0.nanoseconds }
        record("\(work), processor time", allocations: false) { $0.processorNanoseconds }
    }

    /// Times operations one by one: a mean hides the time of the slowest ones. The clock's own cost, some tens of
    /// nanoseconds, is in each.
    ///
    /// - Parameter operations: how many of each subject, after as many as a tenth of them to warm up.
    /// - Throws: the errors of a subject.
    package func latencies(
        work: String,
        parameters: [String: String] = [:],
        operations: Int,
        subjects: [Subject]
    ) throws {
        progress(work)
        var samplers = subjects.map { Sampler($0) }
        var latencies = [[Double]](repeating: [], count: samplers.count)
        for index in samplers.indices { _ = try samplers[index].latencies(max(1, operations / 10)) }
        let rounds = min(10, operations)
        for round in 0..<rounds {
            let count = operations * (round + 1) / rounds - operations * round / rounds
            for index in samplers.indices { latencies[index] += try samplers[index].latencies(count) }
        }
        for (sampler, latencies) in zip(samplers, latencies) {
            record(
                work: work,
                parameters: parameters,
                subject: sampler.subject.name,
                isOurs: sampler.subject.isOurs,
                outcome: .latency(LatencySummary(latencies))
            )
        }
    }

    /// Records a figure that the suite found out itself.
    ///
    /// - Parameter samples: at least one.
    package func value(
        work: String,
        parameters: [String: String] = [:],
        subject: String,
        isOurs: Bool = false,
        unit: String,
        better: Direction = .lower,
        samples: [Double]
    ) {
        record(
            work: work,
            parameters: parameters,
            subject: subject,
            isOurs: isOurs,
            outcome: .value(ValueFigures(samples, unit: unit, better: better))
        )
    }

    /// Records that a subject could not be measured, so that its row says why.
    package func unavailable(
        work: String,
        parameters: [String: String] = [:],
        subject: String,
        reason: String
    ) {
        record(work: work, parameters: parameters, subject: subject, outcome: .unavailable(reason: reason))
    }
}

/// The samples of one subject.
package struct TakenSamples {
    let name: String
    let isOurs: Bool
    let nanoseconds: [Double]
    let processorNanoseconds: [Double]?
    let allocations: Double?
    let bytes: Int?

    /// - Parameter nanoseconds: at least one.
    package init(
        _ name: String,
        isOurs: Bool = false,
        nanoseconds: [Double],
        processorNanoseconds: [Double]? = nil,
        allocations: Double? = nil,
        bytes: Int? = nil
    ) {
        self.name = name
        self.isOurs = isOurs
        self.nanoseconds = nanoseconds
        self.processorNanoseconds = processorNanoseconds
        self.allocations = allocations
        self.bytes = bytes
    }
}

/// Benchmarks that belong together and run under one name.
package protocol Suite {
    /// One word, as on the command line.
    static var name: String { get }
    /// One line for `--list`.
    static var summary: String { get }

    init()

    /// Measures everything, and leaves nothing behind outside the context's folders.
    func run(_ context: Context) throws
}

/// Shows the current work on standard error: on one line that changes, or outside a terminal a line per suite.
final class ProgressLine {
    private let isTerminal = isatty(2) == 1

    func begin(suite: String, summary: String) {
        if isTerminal { return show("\(suite): \(summary)") }
        write("\(suite): \(summary)\n")
    }

    func show(_ text: String) {
        guard isTerminal else { return }
        // Short enough not to wrap, which could not be taken back.
        write("\r\u{1B}[K\(text.prefix(78))")
    }

    /// Takes the line away.
    func clear() {
        if isTerminal { write("\r\u{1B}[K") }
    }

    private func write(_ text: String) {
        FileHandle.standardError.write(Data(text.utf8))
    }
}
