import Foundation
import Testing

@testable import CacheWorker

/// The judge of processes that share a server, by histories made up by hand. The window is 10.
@Suite struct SharedJudgeTests {
    /// One process's log: each line an operation that ran from one moment to another, with its answer; or without an
    /// end, and then it was cut off by the process's death at 100.
    private func log(_ lines: [String]) throws -> [LogRecord] {
        try lines.enumerated().flatMap { index, line -> [(UInt64, LogRecord)] in
            let words = line.split(separator: " ")
            let times = try words[0].split(separator: "-").map { try #require(UInt64($0)) }
            var rest = words.dropFirst()
            let operation = try #require(Operation(takingFrom: &rest))
            // A producer runs in the load of the line before it.
            var number = index + 1
            if case .produce = operation { number = index }
            let begin = LogRecord(time: MonotonicTime(nanoseconds: times[0]), event: .begin(number, operation))
            guard times.count == 2 else { return [(times[0], begin)] }
            let answer = try #require(Answer(rest))
            let time = MonotonicTime(nanoseconds: times[1])
            return [(times[0], begin), (times[1], LogRecord(time: time, event: .end(number, operation, answer)))]
        }
        .sorted { $0.0 < $1.0 }.map(\.1)
    }

    private func judged(
        _ logs: [String]...,
        former: [SharedHistory.Replaced: Bool] = [:],
        isCalm: Bool = true
    ) throws -> [Violation.Law] {
        var history = SharedHistory(keys: ["k", "l"], former: former)
        for (index, lines) in logs.enumerated() {
            let isDead = lines.contains { !$0.prefix { $0 != " " }.contains("-") }
            history.add(
                try log(lines),
                writer: index + 1,
                death: isDead ? MonotonicTime(nanoseconds: 100) : nil
            )
        }
        return SharedJudge(window: .nanoseconds(10)).violations(in: history, isCalm: isCalm).map(\.law)
    }

    @Test func aValueMayBeReadForAsLongAsTheWindowAfterItWasReplaced() throws {
        let replaced = ["1-2 save k done", "20-22 save k done"]
        #expect(try judged(replaced, ["30-31 fetch k value 1.1"]) == [])
        #expect(try judged(replaced, ["33-34 fetch k value 1.1"]) == [.phantom])
        #expect(
            try judged(["1-2 save k done", "20-22 remove k present"], ["33-34 fetch k value 1.1"]) == [.phantom]
        )
        #expect(try judged(["1-2 save k done", "20-22 removeAll done"], ["33-34 fetch k value 1.1"]) == [.phantom])
        // One that was not acknowledged may come later, or never.
        #expect(try judged(["1-2 save k done", "20-22 save k failed -1 x"], ["50-51 fetch k value 1.1"]) == [])
        #expect(try judged(["1-2 save k done", "20 save k"], ["50-51 fetch k value 1.2"]) == [])
        // Nothing is never wrong: servers give entries up.
        #expect(try judged(["1-2 save k done"], ["3-4 fetch k absent"]) == [])
    }

    @Test func aValueThatNobodySavedIsSeen() throws {
        #expect(try judged(["3-4 fetch k value 7.1"]) == [.neverWritten])
        #expect(try judged(["3-4 fetch k value 2.1"], ["5-6 save k done"]) == [.phantom])
        #expect(try judged(["1-2 save l done", "3-4 fetch k value 1.1"]) == [.neverWritten])
        #expect(try judged(["3-4 fetch k torn half"]) == [.torn])
        #expect(try judged(["3-4 fetch k failed 5 x"]) == [.failed])
    }

    @Test func valuesOfEarlierTimesAreKnown() throws {
        let value = SharedHistory.Replaced(key: "k", value: ValueIdentity(writer: 9, number: 9))
        #expect(try judged(["3-4 fetch k value 9.9"], former: [value: true]) == [])
        let later = ["1-2 save k done", "13-14 fetch k value 9.9"]
        #expect(try judged(later, former: [value: true]) == [.phantom, .backwards])
        // It was not acknowledged, and may have come only now.
        #expect(try judged(later, former: [value: false]) == [])
    }

    @Test func aProcessSeesItsOwnChangesAtOnce() throws {
        let other = ["1-2 save k done"]
        #expect(try judged(other, ["3-4 save k done", "5-6 fetch k value 1.1"]) == [.backwards])
        #expect(try judged(other, ["3-4 remove k present", "5-6 fetch k value 1.1"]) == [.backwards])
        #expect(try judged(other, ["3-4 save k failed -1 x", "5-6 fetch k value 1.1"]) == [.backwards])
        #expect(try judged(other, ["3-4 fetch k value 1.1", "5-6 save k done"]) == [])
        // A change that failed may not have begun to change.
        #expect(try judged(other, ["3-4 change k failed -1 x", "5-6 fetch k value 1.1"]) == [])
    }

    @Test func aProcessNeverGoesBack() throws {
        let writer = ["1-2 save k done", "3-4 save k done"]
        #expect(try judged(writer, ["5-6 fetch k value 1.2", "7-8 fetch k value 1.1"]) == [.backwards])
        #expect(try judged(writer, ["5-6 fetch k value 1.1", "7-8 fetch k value 1.2"]) == [])
        #expect(try judged(writer, ["5-6 fetch k value 1.2"], ["7-8 fetch k value 1.1"]) == [])
    }

    @Test func eachValueIsReplacedByOneChange() throws {
        let first = ["1-2 save k done"]
        #expect(try judged(first, ["3-4 change k value 1.1"], ["3-4 change k value 2.1"]) == [])
        #expect(try judged(first, ["3-4 change k value 1.1"], ["3-4 change k value 1.1"]) == [.miscounted])
        #expect(try judged(first, ["3-4 change k absent"], ["3-4 change k absent"]) == [])
    }

    @Test func oneProducerRunsForAKey() throws {
        let one = ["1-9 load k value 1.1", "2-8 produce k done"]
        let other = ["3-9 load k value 2.1", "4-8 produce k done"]
        #expect(try judged(one, other) == [.doubled])
        #expect(try judged(one, other, isCalm: false) == [])
        #expect(try judged(one, ["3-9 load k value 1.1"]) == [])
        #expect(try judged(one, ["3-19 load k value 2.1", "8-18 produce k done"]) == [])
        // The removal ends the first lease.
        #expect(try judged(one, other, ["2-3 remove k absent"]) == [])
        #expect(try judged(one, other, ["2-3 remove l absent"]) == [.doubled])
        // A dead process's lease outlives it.
        #expect(
            try judged(["1 load k", "2 produce k"], ["101-109 load k value 2.1", "102-108 produce k done"]) == []
        )
    }
}
