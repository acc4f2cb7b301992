import Foundation
import ModelCache
import Synchronization
import TypedCacheTesting

/// One scenario under way: a server, a device, and the answers of the library.
@MainActor
package final class Visit {
    package let server: Server
    /// The device's clock, which stands still until a scenario moves it.
    package let clock = ManualClock(now: .now)
    private let directory = FileManager.default.temporaryDirectory.appending(path: "shop-\(UUID().uuidString)")
    private let failures = Failures()
    private let prints: Bool
    private var shops: [Shop] = []
    /// The answers that are not as they must be.
    package private(set) var faults: [String] = []

    private init(prints: Bool) throws {
        self.prints = prints
        server = try Server()
    }

    /// Runs a scenario from its beginning to its end.
    ///
    /// - Parameter prints: whether each answer is printed.
    /// - Returns: the answers that are not as they must be.
    package static func run(_ scenario: Scenario, prints: Bool) async throws -> [String] {
        let visit = try Visit(prints: prints)
        if prints { print(scenario.name) }
        do {
            try await scenario.run(visit)
        } catch {
            visit.note("The scenario ended with an error: \(error)", isRight: false)
        }
        for shop in visit.shops { try? await shop.models.close() }
        try visit.server.stop()
        try? FileManager.default.removeItem(at: visit.directory)
        return visit.faults
    }

    /// Opens the shop on this device.
    package func open(timeout: Duration = .seconds(60)) async throws -> Shop {
        let failures = failures
        let shop = try await Shop(
            server: server.base,
            directory: directory,
            timeout: timeout,
            clock: clock,
            onFailure: { failures.add($0.code) }
        )
        shops.append(shop)
        return shop
    }

    /// Lets a minute go by, here and on the server: all models become stale.
    package func wait() async throws {
        try await server.wait(seconds: 61)
        clock.advance(by: .seconds(61))
    }

    /// The codes of failures since the last call that no call has thrown.
    package func reported() -> [ModelCacheError.Code] { failures.take() }

    /// How many files the device has of all accounts.
    package var fileCount: Int {
        FileManager.default.enumerator(atPath: directory.path)?.allObjects.count ?? 0
    }

    // MARK: Answers

    /// Prints an answer of the library, and notes whether it is as it must be.
    package func answer<Value: Equatable>(_ question: String, _ answer: Value, mustBe expected: Value) {
        let isRight = answer == expected
        note("\(question): \(text(answer))" + (isRight ? "" : ", and must be \(text(expected))"), isRight: isRight)
    }

    /// The same for a call that must throw.
    package func refusal(
        _ question: String,
        mustBe expected: ModelCacheError.Code,
        of call: () async throws -> Void
    ) async {
        do {
            try await call()
            note("\(question): nothing is thrown, and must be \(expected)", isRight: false)
        } catch let error as ModelCacheError {
            answer(question, error.code, mustBe: expected)
        } catch {
            note("\(question): \(error), and must be \(expected)", isRight: false)
        }
    }

    private func note(_ sentence: String, isRight: Bool) {
        if !isRight { faults.append(sentence) }
        if prints { print(isRight ? "  \(sentence)." : "  WRONG: \(sentence).") }
    }

    private func text(_ value: Any) -> String {
        let mirror = Mirror(reflecting: value)
        if mirror.displayStyle == .optional { return mirror.children.first.map { text($0.value) } ?? "nothing" }
        switch value {
        case let flag as Bool: return flag ? "yes" : "no"
        case let words as String: return "\"\(words)\""
        case let list as [Any]: return list.isEmpty ? "none" : list.map(text).joined(separator: ", ")
        default: return "\(value)"
        }
    }
}

private final class Failures: Sendable {
    private let codes = Mutex<[ModelCacheError.Code]>([])

    func add(_ code: ModelCacheError.Code) { codes.withLock { $0.append(code) } }
    func take() -> [ModelCacheError.Code] {
        codes.withLock { codes in
            defer { codes = [] }
            return codes
        }
    }
}
