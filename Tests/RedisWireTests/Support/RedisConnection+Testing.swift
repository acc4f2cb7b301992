import RedisServers
import RedisWire
import Synchronization
import TestSupport

extension RedisConnection {
    /// With timeouts that are long enough for a busy machine, and short pauses between attempts.
    convenience init(
        _ endpoint: RedisEndpoint,
        _ events: EventLog = EventLog(),
        change: (inout RedisSettings) -> Void = { _ in }
    ) throws {
        var settings = RedisSettings(endpoints: [endpoint])
        settings.timeouts = .patient
        settings.backoff.first = .milliseconds(5)
        settings.backoff.longest = .milliseconds(50)
        change(&settings)
        try self.init(to: endpoint, settings: settings) { events.add($0) }
    }

    /// The error of a call; `nil` if it succeeds.
    func error(of command: RedisCommand) async -> RedisError? {
        do throws(RedisError) {
            _ = try await send([command])
            return nil
        } catch {
            return error
        }
    }

    /// Sends a command until it is answered.
    func insist(_ command: RedisCommand) async throws -> RedisValue {
        while true {
            do throws(RedisError) {
                return try await send([command])[0]
            } catch {
                guard [.notConnected, .connectionLost, .timeout].contains(error.code) else { throw error }
                try await Task.sleep(for: .milliseconds(1))
            }
        }
    }
}

/// The events that an observer received.
final class EventLog: Sendable {
    private let events = Mutex<[RedisEvent]>([])

    func add(_ event: RedisEvent) { events.withLock { $0.append(event) } }

    var failures: [RedisError] {
        events.withLock { events in
            events.compactMap { if case .disconnected(let error) = $0 { error } else { nil } }
        }
    }
    var greetings: [RedisValue] {
        events.withLock { events in
            events.compactMap { if case .connected(let server) = $0 { server } else { nil } }
        }
    }
    var messages: [[RedisValue]] {
        events.withLock { events in
            events.compactMap { if case .push(let elements) = $0 { elements } else { nil } }
        }
    }

    /// Waits until there are so many of something.
    func wait<Element>(for count: Int, _ elements: (EventLog) -> [Element]) async throws -> [Element] {
        try await TestSupport.wait(until: elements(self).count >= count)
        return elements(self)
    }
}
