import Foundation
import Testing

@testable import CacheWorker

/// The judge of the torture, with histories made by hand: it accepts possible ones, and reports impossible ones.
@Suite struct JudgeTests {
    /// One process's log: each line an operation that ran from one moment to another, with its answer; or without
    /// an end, and then it was cut off.
    private func log(_ lines: String...) throws -> [LogRecord] {
        try lines.enumerated().flatMap { index, line -> [LogRecord] in
            let words = line.split(separator: " ")
            let times = try words[0].split(separator: "-").map { try #require(UInt64($0)) }
            var rest = words.dropFirst()
            let operation = try #require(Operation(takingFrom: &rest))
            let begin = LogRecord(time: MonotonicTime(nanoseconds: times[0]), event: .begin(index + 1, operation))
            guard times.count == 2 else { return [begin] }
            let answer = try #require(Answer(rest))
            let time = MonotonicTime(nanoseconds: times[1])
            return [begin, LogRecord(time: time, event: .end(index + 1, operation, answer))]
        }
    }

    private func judged(
        _ logs: [LogRecord]...,
        initial: [String: ValueIdentity] = [:],
        expectedFailure: Int32? = nil
    ) -> [Violation.Law] {
        var history = History(keys: ["k", "l"], initial: initial, expectedFailure: expectedFailure)
        for (index, log) in logs.enumerated() {
            history.add(log, writer: index + 1, death: MonotonicTime(nanoseconds: 100))
        }
        return history.judged { value, key in value == ValueIdentity(writer: 9, number: 9) && key == "k" }.map(
            \.law
        )
    }

    @Test func whatWasSavedIsFoundAndWhatWasRemovedIsNot() throws {
        #expect(
            judged(
                try log(
                    "1-2 save k done",
                    "3-4 fetch k value 1.1",
                    "5-6 contains k present",
                    "7-8 keys keys k",
                    "9-10 save k done",
                    "11-12 fetch k value 1.5",
                    "13-14 remove k present",
                    "15-16 fetch k absent",
                    "17-18 keys keys",
                    "19-20 save l done",
                    "21-22 removeAll done",
                    "23-24 contains l absent"
                )
            ) == []
        )
    }

    @Test func whatWasAcknowledgedIsNotLost() throws {
        #expect(judged(try log("1-2 save k done", "3-4 fetch k absent")) == [.lost])
        #expect(judged(try log("1-2 save k done", "3-4 contains k absent")) == [.lost])
        #expect(judged(try log("1-2 save k done", "3-4 keys keys l")) == [.lost, .phantom])
        #expect(
            judged(try log("1-2 fetch k absent"), initial: ["k": ValueIdentity(writer: 7, number: 1)]) == [.lost]
        )
    }

    @Test func whatWasRemovedOrSavedOverDoesNotComeBack() throws {
        #expect(judged(try log("1-2 save k done", "3-4 save k done", "5-6 fetch k value 1.1")) == [.phantom])
        #expect(judged(try log("1-2 save k done", "3-4 remove k present", "5-6 fetch k value 1.1")) == [.phantom])
        #expect(judged(try log("1-2 save k done", "3-4 removeAll done", "5-6 contains k present")) == [.phantom])
        #expect(judged(try log("1-2 save k done", "3-4 removeAll done", "5-6 keys keys k")) == [.phantom])
        #expect(judged(try log("3-4 remove k present")) == [.phantom])
        #expect(judged(try log("1-2 fetch k value 9.9")) == [.phantom], "it was saved, but long ago")
    }

    @Test func nobodySeesWhatIsYetToBeSaved() throws {
        #expect(judged(try log("5-6 save k done"), try log("1-4 fetch k value 1.1")) == [.phantom])
        #expect(judged(try log("5-6 save k done"), try log("1-5 fetch k value 1.1")) == [])
    }

    @Test func whatNobodySavedIsNotFetched() throws {
        #expect(judged(try log("1-2 fetch k value 3.3")) == [.neverWritten])
        #expect(judged(try log("1-2 save l done", "3-4 fetch k value 1.1")) == [.neverWritten])
        #expect(judged(try log("1-2 fetch l value 9.9")) == [.neverWritten], "it was saved for another key")
        #expect(judged(try log("1-2 keys keys m")) == [.neverWritten])
    }

    @Test func aTornValueIsSeen() throws {
        #expect(judged(try log("1-2 save k done", "3-4 fetch k torn it is half of 1.1")) == [.torn])
        let whole = ProvenValue(key: "k", identity: ValueIdentity(writer: 1, number: 2))
        #expect(whole.fault(fetchedFor: "k") == nil)
        #expect(whole.fault(fetchedFor: "l") != nil)
        let encoded = try JSONEncoder().encode(whole)
        let text = String(decoding: encoded, as: UTF8.self)
        let other = text.replacing(#""number":2"#, with: #""number":3"#)
        #expect(other != text)
        let mixed = try JSONDecoder().decode(ProvenValue.self, from: Data(other.utf8))
        #expect(mixed.fault(fetchedFor: "k") != nil)
    }

    @Test func operationsAtOnceMayHaveHappenedInEitherOrder() throws {
        let saves = (try log("1-10 save k done"), try log("5-15 save k done"))
        for seen in ["1.1", "2.1"] {
            #expect(judged(saves.0, saves.1, try log("20-21 fetch k value \(seen)")) == [])
            #expect(judged(saves.0, saves.1, try log("6-7 fetch k value \(seen)")) == [])
        }
        #expect(judged(saves.0, saves.1, try log("6-7 fetch k absent")) == [])
        #expect(judged(saves.0, saves.1, try log("20-21 fetch k absent")) == [.lost])
        let removal = try log("5-15 removeAll done")
        #expect(judged(saves.0, removal, try log("20-21 fetch k absent")) == [])
        #expect(judged(saves.0, removal, try log("20-21 fetch k value 1.1")) == [])
    }

    @Test func whatWasSeenOnceHasHappened() throws {
        let saves = (try log("1-2 save k done"), try log("5-50 save k done"))
        #expect(judged(saves.0, saves.1, try log("6-7 fetch k value 1.1", "8-9 fetch k value 2.1")) == [])
        #expect(judged(saves.0, saves.1, try log("6-7 fetch k value 2.1", "8-9 fetch k value 1.1")) == [.phantom])
    }

    @Test func whatWasCutOffMayHaveHappenedOrNot() throws {
        let old = try log("1-2 save k done")
        let cut = try log("5 save k")
        #expect(judged(old, cut, try log("110-111 fetch k value 1.1")) == [])
        #expect(judged(old, cut, try log("110-111 fetch k value 2.1")) == [])
        #expect(judged(old, cut, try log("110-111 fetch k absent")) == [.lost])
        #expect(judged(old, cut, try log("110-111 fetch k value 2.1", "112-113 fetch k value 1.1")) == [.phantom])
        #expect(judged(old, try log("5 remove k"), try log("110-111 fetch k absent")) == [])
        #expect(judged(old, try log("5 remove k"), try log("110-111 fetch k value 1.1")) == [])
        let later = try log("110-111 save k done", "112-113 fetch k value 2.1")
        #expect(judged(old, cut, later) == [.phantom], "the dead do nothing later")
    }

    @Test func aSaveThatFailedLeavesNothing() throws {
        let failed = try log("1-2 save k done", "3-4 save k failed 28 no space left")
        #expect(judged(failed, try log("5-6 fetch k absent"), expectedFailure: 28) == [])
        #expect(judged(failed, try log("5-6 fetch k value 1.1"), expectedFailure: 28) == [.phantom])
        #expect(judged(failed, try log("5-6 fetch k value 1.2"), expectedFailure: 28) == [.neverWritten])
        #expect(judged(failed) == [.failed])
        #expect(judged(try log("1-2 fetch k failed 5 input/output error"), expectedFailure: 28) == [.failed])
    }

    @Test func whatHasExpiredIsNotSeenAgain() throws {
        // Nanoseconds here, microseconds there.
        let brief = try log("1000-2000 save k for 5 done")
        #expect(judged(brief, try log("3000-4000 fetch k value 1.1")) == [])
        #expect(judged(brief, try log("3000-4000 fetch k absent")) == [.lost])
        #expect(judged(brief, try log("6000-6500 fetch k value 1.1")) == [])
        #expect(judged(brief, try log("6000-6500 fetch k absent")) == [])
        #expect(judged(brief, try log("7001-7002 fetch k absent", "7003-7004 remove k present")) == [])
        #expect(judged(brief, try log("7001-7002 fetch k value 1.1")) == [.phantom])
        #expect(judged(brief, try log("7001-7002 contains k present")) == [.phantom])
        #expect(judged(brief, try log("3000-4000 contains k present")) == [])
        // A value that was saved over something that expires later stays.
        let later = try log("3000-4000 save k done")
        #expect(judged(brief, later, try log("8000-8001 fetch k value 2.1")) == [])
        #expect(judged(brief, later, try log("8000-8001 fetch k absent")) == [.lost])
    }

    @Test func whatWasGoneDoesNotComeBack() throws {
        // Evicted, which is let pass where there are limits.
        let save = try log("1-2 save k done")
        #expect(judged(save, try log("3-4 fetch k absent", "5-6 fetch k value 1.1")) == [.lost, .phantom])
        #expect(judged(save, try log("3-4 fetch k absent"), try log("4-6 fetch k value 1.1")) == [.lost])
        let cut = (try log("1-2 save k done"), try log("3 remove k"))
        #expect(judged(cut.0, cut.1, try log("5-6 fetch k absent", "7-8 fetch k value 1.1")) == [.phantom])
        let late = try log("1-9 save k done")
        #expect(judged(late, try log("3-4 fetch k absent", "5-6 fetch k value 1.1")) == [])
    }

    @Test func aTagIsRemovedFromTheKeysThatHaveIt() throws {
        let tag = try #require(Tag.of("l"))
        #expect(Tag.of("k") != tag)
        let saves = try log("1-2 save k done", "3-4 save l done", "5-6 removeTagged \(tag) count 1")
        #expect(judged(saves, try log("7-8 fetch l absent", "9-10 fetch k value 1.1")) == [])
        #expect(judged(saves, try log("7-8 fetch k absent", "9-10 fetch l value 1.2")) == [.lost, .phantom])
        let cut = try log("1-2 save l done", "5 removeTagged \(tag)")
        #expect(judged(cut, try log("110-111 fetch l absent")) == [])
        #expect(judged(cut, try log("110-111 fetch l value 1.1")) == [])
    }

    // MARK: Deferred saves

    /// The first log is of a process that defers its saves, and dies at 100.
    private func judgedDeferred(_ own: [LogRecord], _ others: [LogRecord] = []) -> [Violation.Law] {
        var history = History(keys: ["k", "l"])
        history.add(own, writer: 1, death: MonotonicTime(nanoseconds: 100), defers: true)
        history.add(others, writer: 2)
        return history.judged().map(\.law)
    }

    @Test func whatWasFlushedIsNotLost() throws {
        let flushed = try log("1-2 save k done", "3-4 flush done")
        #expect(judgedDeferred(flushed, try log("3-5 fetch k absent")) == [])
        #expect(judgedDeferred(flushed, try log("5-6 fetch k absent")) == [.lost])
        #expect(judgedDeferred(flushed, try log("110-111 fetch k absent")) == [.lost])
        let newer = try log("1-2 save k done", "3-4 flush done", "5-6 save k done")
        for seen in ["1.1", "1.3"] {
            #expect(judgedDeferred(newer, try log("7-8 fetch k value \(seen)")) == [])
            #expect(judgedDeferred(newer, try log("110-111 fetch k value \(seen)")) == [])
        }
        let older = try log("1-2 save k done", "3-4 save k done", "5-6 flush done")
        #expect(judgedDeferred(older, try log("110-111 fetch k value 1.1")) == [.phantom])
    }

    @Test func whatWasNotFlushedMayBeThereOrNotButInOrder() throws {
        let saves = try log("1-2 save k done", "3-4 save k done")
        #expect(judgedDeferred(saves, try log("5-6 fetch k absent", "110-111 fetch k value 1.2")) == [])
        #expect(judgedDeferred(saves, try log("5-6 fetch k value 1.1", "110-111 fetch k value 1.2")) == [])
        #expect(judgedDeferred(saves, try log("5-6 fetch k value 1.2", "7-8 fetch k value 1.1")) == [.phantom])
        #expect(judgedDeferred(saves, try log("110-111 fetch k absent")) == [])
        #expect(judgedDeferred(saves, try log("110-111 fetch k absent", "112-113 fetch k value 1.2")) == [.phantom])
    }

    @Test func whoeverDefersSeesItsOwnSavesAtOnce() throws {
        #expect(judgedDeferred(try log("1-2 save k done", "3-4 fetch k value 1.1", "5-6 contains k present")) == [])
        #expect(judgedDeferred(try log("1-2 save k done", "3-4 fetch k absent")) == [.lost])
        #expect(judgedDeferred(try log("1-2 save k done", "3-4 save k done", "5-6 fetch k value 1.1")) == [.lost])
        #expect(judgedDeferred(try log("1-2 save k done", "3-4 remove k present", "5-6 fetch k absent")) == [])
        #expect(judgedDeferred(try log("1-2 save k done", "3-4 remove k absent")) == [.lost])
        #expect(
            judgedDeferred(try log("1-2 save k done", "3-4 remove k present", "5-6 contains k present")) == [
                .phantom
            ]
        )
        let removed = try log("1-2 save k done", "3-4 remove k present")
        #expect(judgedDeferred(removed, try log("5-6 fetch k value 1.1")) == [.phantom])
    }

    // MARK: Counters

    private func counted(_ logs: [LogRecord]..., last: Int) -> [Violation.Law] {
        var judge = CounterJudge(key: "n", first: 0)
        for (index, log) in logs.enumerated() { judge.add(log, writer: index + 1) }
        return judge.judged(last: last).map(\.law)
    }

    @Test func everyIncrementCountsOnce() throws {
        let one = try log("1-2 increment n count 1", "5-6 increment n count 3", "7-8 fetch n value 0.3")
        let other = try log("3-4 increment n count 2")
        #expect(counted(one, other, last: 3) == [])
        #expect(counted(one, other, last: 4) == [.miscounted])
        #expect(counted(one, other, try log("9 increment n"), last: 4) == [])
        #expect(counted(one, other, try log("9 increment n"), last: 5) == [.miscounted])
        #expect(counted(one, last: 3) == [.miscounted], "nobody made it two")
        #expect(
            counted(try log("1-9 increment n count 1"), try log("2-8 increment n count 1"), last: 2) == [
                .miscounted
            ]
        )
        #expect(
            counted(try log("1-2 increment n count 2"), try log("3-4 increment n count 1"), last: 2) == [
                .miscounted
            ]
        )
        #expect(counted(one, other, try log("7-8 fetch n value 0.2"), last: 3) == [.miscounted])
        #expect(counted(one, other, try log("5-6 fetch n value 0.2"), last: 3) == [])
        #expect(counted(one, other, try log("7-8 fetch n torn it"), last: 3) == [.failed])
    }

    @Test func damageThatWasFoundIsReported() throws {
        let damage = LogRecord(time: .start, event: .damage("corrupted: its checksum differs"))
        #expect(judged([damage]) == [.failed])
    }

    @Test func logsAreReadAsTheyWereWritten() throws {
        let records = try log(
            "1-2 save k done",
            "3-4 fetch k value 1.1",
            "5-6 fetch k absent",
            "7-8 keys keys k,l",
            "9-10 keys keys",
            "11-12 count count 2",
            "13-14 fetch k torn half of it",
            "15-16 save l failed 28 no space left",
            "17-18 save k for 250.5 done",
            "19-20 removeTagged red count 3",
            "21-22 flush done",
            "23-24 increment n count 7",
            "25-26 trim 500 count 1",
            "27 removeAll"
        )
        let text = records.map { "\($0)\n" }.joined()
        #expect(try LogRecord.records(text) == records)
        #expect(
            try LogRecord.records(String(text.dropLast())) == records.dropLast(),
            "a line that was cut counts for nothing"
        )
        #expect(throws: TortureError.self) { try LogRecord.records("17 begin x save k\n") }
    }
}
