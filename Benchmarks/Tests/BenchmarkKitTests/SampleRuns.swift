import Foundation

@testable import BenchmarkKit

/// Measurements as tests need them.
enum SampleRuns {
    static func run(_ findings: [Finding], isQuick: Bool = false) -> Run {
        var run = Run(
            date: Date(timeIntervalSinceReferenceDate: 800_000_000),
            commit: "abc1234",
            isDirty: false,
            isQuick: isQuick,
            toolchain: "Swift",
            machine: Machine(processor: "some", cores: 2, memory: 1_024, kernel: "Linux")
        )
        run.findings = findings
        return run
    }

    static func time(
        _ subject: String,
        work: String = "copy",
        parameters: [String: String] = [:],
        _ samples: [Double],
        ratio: Double? = nil,
        allocations: Double? = nil,
        isOurs: Bool = false
    ) -> Finding {
        let figures = TimeFigures(
            nanoseconds: Summary(samples),
            ratio: ratio.map { Summary([$0]) },
            allocations: allocations
        )
        return finding(subject, work: work, parameters: parameters, isOurs: isOurs, .time(figures))
    }

    static func value(_ subject: String, _ value: Double, unit: String, better: Direction) -> Finding {
        finding(subject, work: "copy", .value(ValueFigures([value], unit: unit, better: better)))
    }

    static func finding(
        _ subject: String,
        work: String,
        parameters: [String: String] = [:],
        isOurs: Bool = false,
        _ outcome: Outcome
    ) -> Finding {
        Finding(
            suite: "sample",
            work: work,
            parameters: parameters,
            subject: subject,
            isOurs: isOurs,
            outcome: outcome
        )
    }
}
