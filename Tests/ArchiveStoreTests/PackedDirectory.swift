import Foundation
import TestSupport
import Testing

@testable import ArchiveStore

/// The files of a packed store of many small segments, and the effect of each of its records.
///
/// It has two hundred keys, some of them saved over and some removed; the store was closed at its end, or killed.
struct PackedDirectory: Sendable {
    /// The snapshot in it.
    enum Snapshot: CaseIterable, Sendable {
        /// It has everything.
        case fresh
        /// It has the first half.
        case stale
        case none
    }

    /// A record, its place, and the value of its key from then on.
    struct Step {
        let file: String
        let bytes: Range<Int>
        let key: String
        let value: [UInt8]?
    }

    let snapshot: Snapshot
    let files: [String: [UInt8]]
    let steps: [Step]
    /// The value of every key at the end.
    let values: [String: [UInt8]]
    let keys: [String]
    /// Where the snapshot ends.
    let position: (file: String, offset: Int)?

    static var settings: StoreSettings {
        var settings = StoreSettings()
        settings.byteLimit = 1 << 16
        return settings
    }

    static func open(_ path: String) throws -> PackedStore {
        try PackedStore(directory: path, create: true, settings: settings)
    }

    init(_ snapshot: Snapshot) throws {
        self.snapshot = snapshot
        var files: [String: [UInt8]] = [:]
        var steps: [Step] = []
        var values: [String: [UInt8]] = [:]
        var position: (file: String, offset: Int)?
        let keys = (0..<200).map { "key \($0)" }
        try withTemporaryDirectory(inMemory: true) { path in
            var random = SeededGenerator(seed: 4)
            var done: [(key: String, value: [UInt8]?)] = []
            let store = try Self.open(path)
            func save(_ key: String) throws {
                let value = (0..<Int.random(in: 1...30, using: &random)).map { _ in
                    UInt8.random(in: 0...255, using: &random)
                }
                try store.save(value, forKey: key, storedAt: .distantPast, expiresAt: nil)
                values[key] = value
                done.append((key, value))
            }
            func remove(_ key: String) throws {
                guard values[key] != nil else { return }
                #expect(try store.remove(forKey: key))
                values[key] = nil
                done.append((key, nil))
            }
            func work() throws {
                for _ in 0..<30 { try save(keys.randomElement(using: &random) ?? "") }
                for _ in 0..<20 { try remove(keys.randomElement(using: &random) ?? "") }
            }
            for key in keys { try save(key) }
            try work()
            if snapshot == .stale { try store.current.snapshots.write() }
            try work()
            // The last one is a second value, so that an older one is there to come back.
            try save(keys.first { values[$0] != nil } ?? "")
            if snapshot == .fresh { try store.current.snapshots.write() }
            store.finishUpkeep()
            for name in try FileManager.default.contentsOfDirectory(atPath: path) where name != ".drafts" {
                files[name] = try readFile(path + "/" + name)
            }
            let last = try Self.steps(of: store.current, done, into: &steps)
            if snapshot == .fresh { position = last }
            if let bytes = files["index"], snapshot == .stale {
                let number = bytes[12..<16].reduce(0) { $0 << 8 | UInt32($1) }
                position = (Segment.fileName(number), bytes[16..<20].reduce(0) { $0 << 8 | Int($1) })
            }
        }
        self.files = files
        self.steps = steps
        self.values = values
        self.keys = keys
        self.position = position
    }

    private static func steps(
        of log: PackedLog,
        _ done: [(key: String, value: [UInt8]?)],
        into steps: inout [Step]
    ) throws -> (file: String, offset: Int)? {
        var rest = done[...]
        var last: (file: String, offset: Int)?
        for number in try log.reader.segments.numbers() {
            guard let segment = try log.reader.segments.segment(number) else { continue }
            var scanner = SegmentScanner(segment, to: try segment.file.byteCount())
            while let step = try scanner.next() {
                guard case .record(let record, let place) = step else { continue }
                last = (Segment.fileName(number), Int(place.offset) + record.byteCount)
                guard record.kind == .entry || record.kind == .removal else { continue }
                let step = try #require(rest.first)
                rest = rest.dropFirst()
                try #require(step.key == String(decoding: record.key, as: UTF8.self))
                let bytes = Int(place.offset)..<(Int(place.offset) + record.byteCount)
                steps.append(Step(file: Segment.fileName(number), bytes: bytes, key: step.key, value: step.value))
            }
        }
        try #require(rest.isEmpty)
        return last
    }

    /// The names of the segments, in their order.
    var segments: [String] { files.keys.filter { Segment.number($0) != nil }.sorted() }

    /// The value of every key when the log had come to a place in the last segment.
    func values(upTo end: Int) -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for step in steps where step.file != segments.last || step.bytes.upperBound <= end {
            values[step.key] = step.value
        }
        return values
    }

    /// The value of every key if the records that do not end before a place of a segment had never come.
    func values(withoutEndOf file: String, from end: Int) -> [String: [UInt8]] {
        var values: [String: [UInt8]] = [:]
        for step in steps where step.file != file || step.bytes.upperBound <= end { values[step.key] = step.value }
        return values
    }

    /// Writes the files to a directory, in place of its content.
    func write(to path: String, changing name: String? = nil, to bytes: [UInt8]? = nil) throws {
        if FileManager.default.fileExists(atPath: path) { try removeDirectory(path) }
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: false)
        for (file, content) in files where file != name { try writeFile(content, path + "/" + file) }
        if let name, let bytes { try writeFile(bytes, path + "/" + name) }
    }

    // MARK: Answers

    enum Answer: Equatable, Sendable {
        case value([UInt8])
        case nothing
        case damaged
    }

    private static func answer(_ store: PackedStore, _ key: String) throws(StoreError) -> Answer {
        try answer(Result { () throws(StoreError) in try store.fetch(forKey: key) })
    }

    private static func answer(_ fetched: Result<StoredArchive?, StoreError>) throws(StoreError) -> Answer {
        do throws(StoreError) {
            guard let stored = try fetched.get() else { return .nothing }
            return .value(stored.archive)
        } catch {
            guard error.code == .corrupted else { throw error }
            return .damaged
        }
    }

    /// The answer for each key: every other one is fetched by itself, the rest together; and whether a damaged entry is out
    /// of the way after it was told.
    func answers(_ store: PackedStore, _ place: Comment) throws -> [String: Answer] {
        var answers: [String: Answer] = [:]
        let together = keys.indices.filter { !$0.isMultiple(of: 2) }.map { keys[$0] }
        for (key, fetched) in zip(together, store.fetch(forKeys: together)) {
            answers[key] = try Self.answer(fetched)
        }
        for key in keys {
            let answer = try answers[key] ?? Self.answer(store, key)
            answers[key] = answer
            guard answer == .damaged else { continue }
            #expect(try Self.answer(store, key) == .nothing, "\(key); \(place)")
        }
        return answers
    }

    /// The keys whose answer differs from their value.
    func differences(_ answers: [String: Answer], from values: [String: [UInt8]]) -> Set<String> {
        Set(keys.filter { answers[$0] != values[$0].map { .value($0) } ?? .nothing })
    }

    /// Those keys that have another value than they had at last, which must never be.
    ///
    /// - Parameter former: the values that keys may have as well.
    func wrong(
        _ answers: [String: Answer],
        than values: [String: [UInt8]],
        or former: [String: [UInt8]] = [:]
    ) -> Set<String> {
        Set(
            keys.filter { key in
                guard case .value(let value)? = answers[key] else { return false }
                return value != values[key] && value != former[key]
            }
        )
    }
}
