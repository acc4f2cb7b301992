import Dispatch
import Synchronization

/// Saves some hundred records at a time, on several threads.
struct BatchSaver: Sendable {
    /// `nil` takes every field as it is.
    let fields: FieldList?
    /// Whether keys that have an entry are left alone.
    let resumes: Bool
    let sink: any RecordSink
    let interruption: any Interruption

    /// A record on its way.
    struct Item: Sendable {
        enum Content: Sendable {
            case record(KeyedRecord, line: Int)
            case bad(BadRecord)
        }

        let content: Content
        let isText: Bool
        /// Of the source, up to the end of the record.
        let bytesConsumed: Int
    }

    /// The result of saving one record.
    enum ItemResult: Sendable {
        case saved(key: String)
        /// It was there already.
        case present
        case bad(BadRecord)
        case failed(any Error)
    }

    /// Saves records, those of one key in their order, and returns the result of each; `nil` for those that were left
    /// when something failed or a signal came.
    func save(_ items: [Item]) -> [ItemResult?] {
        let lanes = lanes(of: items)
        if lanes.count <= 1 { return results(of: Array(items.indices)[...], in: items) }
        let hasFailed = Atomic<Bool>(false)
        let results = Mutex([ItemResult?](repeating: nil, count: items.count))
        DispatchQueue.concurrentPerform(iterations: lanes.count) { lane in
            var rest = lanes[lane][...]
            while !rest.isEmpty {
                if hasFailed.load(ordering: .relaxed) || interruption.signal != nil { return }
                // When something failed or a signal came, no more are saved.
                let piece = rest.prefix(sink.recordsAtOnce)
                rest = rest.dropFirst(piece.count)
                let own = self.results(of: piece, in: items)
                for case .failed? in own { hasFailed.store(true, ordering: .relaxed) }
                results.withLock { results in
                    for (index, result) in zip(piece, own) { results[index] = result }
                }
            }
        }
        return results.withLock { $0 }
    }

    /// Begins to save records, as ``save(_:)`` does, on another thread.
    func startSaving(_ items: [Item]) -> SavingItems { SavingItems(items, saver: self) }

    /// The places of items, by the thread that saves them.
    private func lanes(of items: [Item]) -> [[Int]] {
        let count = min(sink.threadCount, items.count)
        guard count > 1 else { return [] }
        var lanes = [[Int]](repeating: [], count: count)
        for (index, item) in items.enumerated() {
            let hash =
                switch item.content {
                case .record(let record, _): UInt(bitPattern: record.key.hashValue)
                case .bad: UInt(index)
                }
            lanes[Int(hash % UInt(count))].append(index)
        }
        return lanes
    }

    /// Saves the records at some places by one call of the sink; by several where a key comes again and it matters whether
    /// it is there. Returns their results, in the order of the places.
    private func results(of places: ArraySlice<Int>, in items: [Item]) -> [ItemResult?] {
        var pending = PendingRecords(count: places.count)
        var presence: [String: Bool] = [:]
        do {
            if resumes { presence = try self.presence(of: places, in: items) }
        } catch {
            pending.results[0] = .failed(error)
            return pending.results
        }
        for (index, place) in places.enumerated() {
            switch items[place].content {
            case .bad(let badRecord): pending.results[index] = .bad(badRecord)
            case .record(let record, let line):
                do {
                    if resumes {
                        var isPresent = presence.removeValue(forKey: record.key)
                        if isPresent == nil {
                            // It comes again.
                            if pending.contains(record.key) { pending.save(in: sink) }
                            if pending.hasFailed { return pending.results }
                            isPresent = try sink.contains(record.key)
                        }
                        if isPresent == true {
                            pending.results[index] = .present
                            continue
                        }
                    }
                    guard let fields else {
                        pending.add(record, at: index, line: line)
                        continue
                    }
                    let selected = try fields.select(from: record.record.record, isText: items[place].isText)
                    pending.add(KeyedRecord(key: record.key, record: .fields(selected)), at: index, line: line)
                } catch let reason as BadRecordReason {
                    pending.results[index] = .bad(BadRecord(line: line, reason: reason))
                } catch {
                    // The records before this one are saved, those after it are left.
                    pending.results[index] = .failed(error)
                    pending.save(in: sink)
                    return pending.results
                }
            }
        }
        pending.save(in: sink)
        return pending.results
    }

    /// Whether the keys of the items at some places have entries already.
    private func presence(of places: ArraySlice<Int>, in items: [Item]) throws -> [String: Bool] {
        var keys: [String] = []
        for place in places {
            if case .record(let record, _) = items[place].content { keys.append(record.key) }
        }
        // Keys that are the same text in different bytes are asked for one by one, but for the first.
        return Dictionary(zip(keys, try sink.contains(keys))) { first, _ in first }
    }
}

/// Records that are saved by one call, and the results of all so far.
private struct PendingRecords {
    var results: [BatchSaver.ItemResult?]
    private(set) var hasFailed = false
    private var records: [KeyedRecord] = []
    /// Where the results of these records go, and the records' lines.
    private var places: [(index: Int, line: Int)] = []

    init(count: Int) {
        results = [BatchSaver.ItemResult?](repeating: nil, count: count)
        records.reserveCapacity(count)
        places.reserveCapacity(count)
    }

    func contains(_ key: String) -> Bool { records.contains { $0.key == key } }

    mutating func add(_ record: KeyedRecord, at index: Int, line: Int) {
        records.append(record)
        places.append((index, line))
    }

    mutating func save(in sink: any RecordSink) {
        if records.isEmpty { return }
        for (number, saved) in sink.save(records).enumerated() {
            guard let saved else { continue }
            let (index, line) = places[number]
            switch saved {
            case .success: results[index] = .saved(key: records[number].key)
            case .failure(let rejection as RejectedRecord):
                results[index] = .bad(BadRecord(line: line, reason: .rejected(rejection.reason)))
            case .failure(let error):
                results[index] = .failed(error)
                hasFailed = true
            }
        }
        records.removeAll(keepingCapacity: true)
        places.removeAll(keepingCapacity: true)
    }
}

/// Records that are being saved on another thread.
final class SavingItems: Sendable {
    private let isDone = DispatchSemaphore(value: 0)
    private let results = Mutex<[BatchSaver.ItemResult?]>([])

    init(_ items: [BatchSaver.Item], saver: BatchSaver) {
        DispatchQueue.global(qos: .userInitiated).async { [self] in
            let saved = saver.save(items)
            results.withLock { $0 = saved }
            isDone.signal()
        }
    }

    /// Waits until all are saved, and returns the result of each as ``BatchSaver/save(_:)`` does. To be called once.
    func wait() -> [BatchSaver.ItemResult?] {
        isDone.wait()
        return results.withLock { $0 }
    }
}
