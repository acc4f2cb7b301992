import Foundation

// Removing everything.

extension SegmentLog {
    /// Drops every segment with all its entries.
    mutating func removeAll() throws(StoreError) {
        guard let tail = tail.current else { return }
        let next: LogTail.Position
        do throws(StoreError) {
            next = try beginSegment(dictionary: tail.segment.dictionary, givesUpOthers: true)
        } catch {
            guard error.isOutOfSpace else { throw error }
            // Without room for another one.
            throw try removeAllSegments()
        }
        self.tail.hide()
        chain.addOrphanedSegments(chain.byteCounts.keys.filter { $0 < next.segment.number }.sorted(by: >))
        index.clear()
        chain.raiseFirstLiveSegment(to: next.segment.number)
        try removeLeftovers()
    }
}
