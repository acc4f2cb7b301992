import Foundation
import SharedCache
import Synchronization
import TestSupport
import TypedCache

/// Does operations on a cache, and logs each before and after.
final class Worker {
    let writer: Int
    private let cache: Cache<ProvenValue>
    private let log: OperationLog
    private let settings: WorkerSettings
    private var random: SeededGenerator
    private var number = 0
    /// The bytes of the payload that was last saved, or failed to be.
    private(set) var savedByteCount = 0

    init(_ settings: WorkerSettings) throws {
        let log = try OperationLog(path: settings.log)
        self.log = log
        writer = settings.writer
        self.settings = settings
        random = SeededGenerator(seed: settings.seed)
        if let server = settings.server {
            let tier = try SharedTier(server, SharedTorture.tier)
            cache = try Cache(
                name: settings.name,
                shared: tier,
                // Loads fail while the server does not answer.
                settings: CacheSettings(observer: DamageObserver(log: log, isOfServer: true))
            )
            return
        }
        cache = try Cache(
            name: settings.name,
            directory: URL(fileURLWithPath: settings.directory, isDirectory: true),
            settings: CacheSettings(
                memory: settings.usesMemory ? MemorySettings() : .none,
                disk: DiskSettings(
                    layout: settings.layout,
                    byteLimit: settings.byteLimit.map { .bytes($0) },
                    countLimit: settings.countLimit,
                    writing: settings.deferredByteCount.map { .behind(limit: .bytes($0)) } ?? .through,
                    encryption: Self.encryption,
                    followsOtherProcesses: settings.followsOthers,
                    publishesStatistics: settings.publishes
                ),
                clock: MonotonicClock(),
                observer: DamageObserver(log: log)
            )
        )
    }

    /// Whether the files of caches are encrypted: where the environment says so, which other processes have as well.
    private static let encryption: DiskSettings.Encryption = {
        guard ProcessInfo.processInfo.environment["TYPED_CACHE_TORTURE_ENCRYPTED"] != nil,
            let key = EncryptionKey(identifier: 1, bytes: Array(1...32))
        else { return .none }
        return .key(key)
    }()

    /// Does one operation made up from the seed.
    ///
    /// - Parameter sparesOthers: Whether only its own keys may be changed.
    func step(sparesOthers: Bool = false) {
        let operation = settings.mix.operation(on: settings.keys, reading: settings.readKeys, using: &random)
        switch operation {
        case .removeAll, .removeTagged:
            if !sparesOthers { perform(operation) }
            // Any entry that is left now was saved in between, or is a fault.
            perform(.keys)
        default: perform(operation)
        }
    }

    /// The bytes on disk of each entry.
    func storedByteCounts() throws -> [String: Int] {
        Dictionary(try cache.entries().all().map { ($0.key, $0.size.bytes) }) { $1 }
    }

    @discardableResult
    func perform(_ operation: Operation) -> Answer {
        number += 1
        log.append(.begin(number, operation))
        let answer: Answer
        do throws(CacheError) {
            answer = try answering(operation)
        } catch {
            let number = error.code == .unreachable ? Answer.unreachable : error.errorNumber ?? 0
            answer = .failed(number, "\(error)".replacing("\n", with: " "))
        }
        log.append(.end(number, operation, answer))
        return answer
    }

    private func answering(_ operation: Operation) throws(CacheError) -> Answer {
        switch operation {
        case .save(let key, let lifetime):
            let value = ProvenValue(key: key, identity: ValueIdentity(writer: writer, number: number))
            savedByteCount = value.payload.count
            let expiration = lifetime.map { Expiration.after($0) }
            let tags = Tag.of(key).map { Set([$0]) } ?? []
            try cache.save(value, forKey: key, expiration: expiration, tags: tags)
            return .done
        case .fetch(let key):
            guard let value = try cache.fetch(forKey: key) else { return .absent }
            if let fault = value.fault(fetchedFor: key) { return .torn(fault) }
            return .value(value.identity)
        case .load(let key): return loading(key)
        case .contains(let key): return try cache.contains(forKey: key) ? .present : .absent
        case .remove(let key): return try cache.remove(forKey: key) ? .present : .absent
        case .removeAll:
            try cache.removeAll()
            return .done
        case .keys: return .keys(try cache.keys().all().sorted())
        case .count: return .count(try cache.count())
        case .removeTagged(let tag): return .count(try cache.removeAll(tagged: tag))
        case .flush:
            try cache.flush()
            return .done
        case .increment(let key): return try incrementing(key)
        case .change(let key): return try changing(key)
        // Only the producer of a load does that.
        case .produce: return .failed(0, "there is no load")
        case .trim(let byteCount): return .count(try cache.trimDisk(to: .bytes(byteCount)))
        }
    }

    /// How long a producer takes: for a key that says so, until the process is killed.
    private static func loadTime(_ key: String) -> Duration {
        key == "endless" ? .seconds(3_600) : .milliseconds(3)
    }

    private func loading(_ key: String) -> Answer {
        let (cache, value) = (cache, ProvenValue(key: key, identity: ValueIdentity(writer: writer, number: number)))
        let duration = Self.loadTime(key)
        let (log, number, isShared) = (log, number, settings.server != nil)
        let answer = Mutex(Answer.absent)
        let isDone = DispatchSemaphore(value: 0)
        Task {
            do {
                let options = isShared ? LoadOptions() : LoadOptions(joins: .processes)
                let tags = isShared ? Tag.of(key).map { Set([$0]) } ?? [] : []
                let found = try await cache.fetch(forKey: key, options: options, tags: tags) {
                    if isShared { log.append(.begin(number, .produce(key))) }
                    try await Task.sleep(for: duration)
                    if isShared { log.append(.end(number, .produce(key), .done)) }
                    return value
                }
                answer.withLock { $0 = found.fault(fetchedFor: key).map { .torn($0) } ?? .value(found.identity) }
            } catch {
                let isUnreachable = (error as? CacheError)?.code == .unreachable
                answer.withLock {
                    $0 = .failed(isUnreachable ? Answer.unreachable : 0, "\(error)".replacing("\n", with: " "))
                }
            }
            isDone.signal()
        }
        isDone.wait()
        return answer.withLock { $0 }
    }

    private func changing(_ key: String) throws(CacheError) -> Answer {
        let new = ProvenValue(key: key, identity: ValueIdentity(writer: writer, number: number))
        return try cache.modify(forKey: key, tags: Tag.of(key).map { [$0] } ?? []) { value in
            if let fault = value?.fault(fetchedFor: key) { return .torn(fault) }
            defer { value = new }
            return value.map { .value($0.identity) } ?? .absent
        }
    }

    private func incrementing(_ key: String) throws(CacheError) -> Answer {
        try cache.modify(forKey: key) { value in
            if let fault = value?.fault(fetchedFor: key) { return .torn(fault) }
            let count = (value?.identity.number ?? 0) + 1
            value = ProvenValue(key: key, identity: ValueIdentity(writer: 0, number: count))
            return .count(count)
        }
    }
}
