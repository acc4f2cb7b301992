import TestSupport
import Testing

@testable import RedisWire

/// Random calls, answers, deadlines and failures against a plain list of calls.
struct PendingCallsTests {
    private struct Model {
        let call: RedisCall
        let number: Int
        /// When the caller is told.
        var deadline: ContinuousClock.Instant { min(call.deadline, call.callerDeadline ?? call.deadline) }
        var isSent = false
        var values: [RedisValue] = []
        var outcome: RedisAnswer.Outcome?

        var isAnswered: Bool { values.count == call.answerCount }
    }

    private static let late = RedisError(.timeout, "late")
    private static let sentLate = RedisError(.timeout, mayHaveRun: true, "late")

    @Test(arguments: seeds(0..<100))
    func behaveAsAList(seed: Int) async {
        var random = SeededGenerator(seed: UInt64(seed))
        var calls = PendingCalls()
        var models: [Model] = []
        var now = ContinuousClock.now
        var nextValue: Int64 = 0

        for step in 0..<2_000 {
            switch Int.random(in: 0..<12, using: &random) {
            case 0..<4:
                let call = RedisCall(
                    bytes: [],
                    answerCount: .random(in: 1...4, using: &random),
                    deadline: now + .seconds(10),
                    callerDeadline: Bool.random(using: &random)
                        ? now + .seconds(Int.random(in: 1...9, using: &random)) : nil,
                    answer: RedisAnswer()
                )
                calls.append(call)
                models.append(Model(call: call, number: models.count))
            case 4..<7:
                let due = models.filter { $0.isSent && !$0.isAnswered }
                let count = due.reduce(0) { $0 + $1.call.answerCount - $1.values.count }
                let room = Int.random(in: 1...12, using: &random)
                let next = models.first { !$0.isSent && $0.outcome == nil }
                let found = calls.nextToSend(room: room)
                #expect(calls.hasSent == (!due.isEmpty || found != nil))
                guard let next, count == 0 || count + next.call.answerCount <= room else {
                    #expect(found == nil)
                    break
                }
                #expect(found?.answer === next.call.answer)
                models[next.number].isSent = true
            case 7..<10:
                nextValue += 1
                let index = models.firstIndex { $0.isSent && !$0.isAnswered }
                #expect(calls.take(.integer(nextValue)) == (index != nil))
                guard let index else { break }
                models[index].values.append(.integer(nextValue))
                if models[index].isAnswered, models[index].outcome == nil {
                    models[index].outcome = .success(models[index].values)
                }
            case 10:
                now += .seconds(Int.random(in: 0...4, using: &random))
                calls.failLate(at: now) { $0 ? Self.sentLate : Self.late }
                for index in models.indices where models[index].outcome == nil && models[index].deadline <= now {
                    // A caller with its own deadline is not told whether the call was sent.
                    let isKnown = models[index].call.deadline <= now && !models[index].isSent
                    models[index].outcome = .failure(isKnown ? Self.late : Self.sentLate)
                }
                if let deadline = calls.deadline { #expect(deadline > now) }
            default:
                // A caller that no longer waits.
                guard let model = models.filter({ $0.outcome == nil }).randomElement(using: &random) else { break }
                let error = RedisError(.cancelled, "\(step)")
                model.call.answer.fail(error)
                models[model.number].outcome = .failure(error)
            }
        }

        let lost = RedisError(.connectionLost, "lost")
        calls.failAll { RedisError(.connectionLost, mayHaveRun: $0, "lost") }
        #expect(!calls.hasSent && calls.deadline == nil && calls.dueCount == 0)
        for model in models {
            let sentLost = RedisError(lost.code, mayHaveRun: model.isSent, lost.message)
            #expect(await model.call.answer.outcome() == model.outcome ?? .failure(sentLost))
        }
    }

    /// Callers that have gone cost the sender no more than one look each.
    @Test func manyGoneCallersAreDropped() {
        var calls = PendingCalls()
        for number in 0..<200_000 {
            let call = RedisCall(bytes: [], answerCount: 1, deadline: .now, answer: RedisAnswer())
            if number > 0 { call.answer.fail(Self.late) }
            calls.append(call)
        }
        #expect(calls.nextToSend(room: 1) != nil)
        #expect(calls.nextToSend(room: 10) == nil)
        #expect(calls.dueCount == 1)
    }
}
