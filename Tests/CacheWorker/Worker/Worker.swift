import Foundation
import TypedCache

/// Does operations on a cache, and logs each before and after.
final class Worker {
    let writer: Int
    private let cache: Cache<ProvenValue>
    private let log: OperationLog
    private let keys: [String]
    private var random: SeededGenerator
    private var number = 0

    init(_ settings: WorkerSettings) throws {
        let log = try OperationLog(path: settings.log)
        self.log = log
        writer = settings.writer
        keys = settings.keys
        random = SeededGenerator(seed: settings.seed)
        cache = try Cache(
            name: settings.name,
            directory: URL(fileURLWithPath: settings.directory, isDirectory: true),
            memory: settings.usesMemory ? MemoryLimit() : .none,
            clock: MonotonicClock(),
            reporter: { log.append(.damage("\($0)".replacing("\n", with: " "))) }
        )
    }

    /// Does one operation made up from the seed.
    ///
    /// - Parameter sparesOthers: Whether only its own keys may be changed.
    func step(sparesOthers: Bool = false) {
        let operation = Operation.random(of: keys, using: &random)
        if operation != .removeAll || !sparesOthers { perform(operation) }
        // What is left now was saved meanwhile, or should not be.
        if operation == .removeAll { perform(.keys) }
    }

    @discardableResult
    func perform(_ operation: Operation) -> Answer {
        number += 1
        log.append(.begin(number, operation))
        let answer: Answer
        do throws(CacheError) {
            answer = try answering(operation)
        } catch {
            answer = .failed(error.errorNumber ?? 0, "\(error)".replacing("\n", with: " "))
        }
        log.append(.end(number, operation, answer))
        return answer
    }

    private func answering(_ operation: Operation) throws(CacheError) -> Answer {
        switch operation {
        case .save(let key, let lifetime):
            let identity = ValueIdentity(writer: writer, number: number)
            let expiration = lifetime.map { Expiration.after($0) }
            try cache.save(ProvenValue(key: key, identity: identity), forKey: key, expiration: expiration)
            return .done
        case .fetch(let key):
            guard let value = try cache.fetch(forKey: key) else { return .absent }
            if let fault = value.fault(fetchedFor: key) { return .torn(fault) }
            return .value(value.identity)
        case .contains(let key): return try cache.contains(key) ? .present : .absent
        case .remove(let key): return try cache.remove(forKey: key) ? .present : .absent
        case .removeAll:
            try cache.removeAll()
            return .done
        case .keys: return .keys(cache.keys.sorted())
        case .count: return .count(try cache.count())
        }
    }
}
