import Foundation

/// Waits until a condition holds that other tasks, threads or processes bring about.
///
/// - Parameters:
///   - condition: looked at every millisecond. A loop that only yields would keep a processor from the tests beside it.
///   - limit: so generous that a busy machine does not reach it.
/// - Throws: ``WaitError`` when the limit has passed, or the task is cancelled, as a test's is at its time limit.
package func wait(
    until condition: @autoclosure () async throws -> Bool,
    within limit: Duration = .seconds(300 * slowness),
    isolation: isolated (any Actor)? = #isolation,
    file: String = #fileID,
    line: Int = #line
) async throws {
    let end = ContinuousClock.now + limit
    while try await !condition() {
        guard !Task.isCancelled, .now < end else { throw WaitError(file: file, line: line) }
        try? await Task.sleep(for: .milliseconds(1))
    }
}

/// As the asynchronous one, but blocks.
package func wait(
    until condition: @autoclosure () throws -> Bool,
    within limit: Duration = .seconds(300 * slowness),
    file: String = #fileID,
    line: Int = #line
) throws {
    let end = ContinuousClock.now + limit
    while try !condition() {
        guard !Task.isCancelled, .now < end else { throw WaitError(file: file, line: line) }
        usleep(1_000)
    }
}

/// A condition did not hold in time.
package struct WaitError: Error, CustomStringConvertible {
    let file: String
    let line: Int

    package var description: String { "\(file):\(line) waited in vain" }
}
