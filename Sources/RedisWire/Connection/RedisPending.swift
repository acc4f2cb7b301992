/// Commands that were sent, and whose answers have not been waited for. They are executed, whether they are waited for
/// or not.
package struct RedisPending: Sendable {
    package typealias Outcome = Result<[RedisValue], RedisError>

    private let answer: RedisAnswer
    /// Where the answer is looked for; `nil` if the thread of all connections is told to read it anyway.
    private let inbox: RedisInbox?
    /// Called by the one that has waited, before it goes on.
    var afterwards: (@Sendable () -> Void)?

    init(_ answer: RedisAnswer, in inbox: RedisInbox?) {
        self.answer = answer
        self.inbox = inbox
    }

    /// Commands that have their answers, or will have none.
    package init(_ outcome: Outcome) {
        answer = RedisAnswer()
        inbox = nil
        answer.tell(outcome)
    }

    /// Suspends until the commands are answered, or the task is cancelled.
    package func outcome() async -> Outcome {
        let outcome = await withTaskCancellationHandler {
            if let inbox {
                if inbox.isTurnOfOthers { await Task.yield() }
                inbox.read(for: answer)
            }
            return await answer.outcome()
        } onCancel: {
            answer.fail(RedisError(.cancelled, mayHaveRun: true, "The task was cancelled."))
        }
        afterwards?()
        return outcome
    }

    /// Blocks the thread until the commands are answered.
    package func wait() -> Outcome {
        inbox?.read(for: answer)
        let outcome = answer.waitForOutcome()
        afterwards?()
        return outcome
    }

    /// Blocks the thread until the commands are answered; `nil` if that takes longer.
    package func wait(atMost time: Duration) -> Outcome? {
        inbox?.read(for: answer)
        let outcome = answer.waitForOutcome(atMost: time)
        if outcome != nil { afterwards?() }
        return outcome
    }
}
