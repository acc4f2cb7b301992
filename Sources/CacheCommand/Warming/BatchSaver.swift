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
    struct Item {
        enum Content {
            case record(Record, key: String, line: Int)
            case bad(BadRecord)
        }

        let content: Content
        let isText: Bool
        /// Of the source, up to the end of the record.
        let bytesConsumed: Int
    }

    /// The result of saving one record.
    enum ItemResult {
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
        if lanes.count <= 1 { return items.map { result(of: $0) } }
        let hasFailed = Atomic<Bool>(false)
        let results = Mutex([ItemResult?](repeating: nil, count: items.count))
        DispatchQueue.concurrentPerform(iterations: lanes.count) { lane in
            for index in lanes[lane] {
                if hasFailed.load(ordering: .relaxed) || interruption.signal != nil { return }
                let result = result(of: items[index])
                if case .failed = result { hasFailed.store(true, ordering: .relaxed) }
                results.withLock { $0[index] = result }
            }
        }
        return results.withLock { $0 }
    }

    /// The places of items, by the thread that saves them.
    private func lanes(of items: [Item]) -> [[Int]] {
        let count = min(sink.threadCount, items.count)
        guard count > 1 else { return [] }
        var lanes = [[Int]](repeating: [], count: count)
        for (index, item) in items.enumerated() {
            let hash =
                switch item.content {
                case .record(_, let key, _): UInt(bitPattern: key.hashValue)
                case .bad: UInt(index)
                }
            lanes[Int(hash % UInt(count))].append(index)
        }
        return lanes
    }

    private func result(of item: Item) -> ItemResult {
        switch item.content {
        case .bad(let badRecord): return .bad(badRecord)
        case .record(let record, let key, let line):
            do {
                if resumes, try sink.contains(key) { return .present }
                let selected = try fields?.select(from: record, isText: item.isText) ?? record
                try sink.save(selected, forKey: key)
                return .saved(key: key)
            } catch let reason as BadRecordReason {
                return .bad(BadRecord(line: line, reason: reason))
            } catch let rejection as RejectedRecord {
                return .bad(BadRecord(line: line, reason: .rejected(rejection.reason)))
            } catch {
                return .failed(error)
            }
        }
    }
}
