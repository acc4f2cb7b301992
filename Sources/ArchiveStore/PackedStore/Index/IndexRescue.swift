/// Rebuilds the parts of an index whose snapshot turns out to be damaged, from the segments' records.
///
/// The first call reads all records and keeps them: a part that was not loaded until now has not changed since.
final class IndexRescue: Sendable {
    private let rebuild: @Sendable () throws(StoreError) -> PackedIndex
    private let status: LogStatus
    private let rebuilt = RankedMutex<PackedIndex?>(nil, rank: PackedLocks.indexRescue)

    /// - Parameter rebuild: Reads all records.
    init(status: LogStatus, rebuild: @escaping @Sendable () throws(StoreError) -> PackedIndex) {
        self.status = status
        self.rebuild = rebuild
    }

    func table(part: Int) -> IndexTable {
        rebuilt.withLock { rebuilt in
            do throws(StoreError) {
                let index = if let rebuilt { rebuilt } else { try rebuild() }
                rebuilt = index
                var table = index.withPart(number: part) { $0 }
                // Segments may have been given up since.
                let firstLiveSegment = status.firstLiveSegment
                _ = table.removeAll { $0.place.segment < firstLiveSegment }
                return table
            } catch {
                // A caller that misses an entry gets this error; the next call opens the log anew.
                status.failLoading(error)
                return IndexTable()
            }
        }
    }
}
