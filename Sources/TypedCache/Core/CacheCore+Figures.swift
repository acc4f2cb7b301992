import ArchiveStore

extension CacheCore {
    /// The counts and sizes at this moment, as far as they are known without I/O.
    var figures: CacheFigures {
        var figures = CacheFigures()
        figures.statistics = memory.statistics
        // A cache in memory alone has its limits in the store.
        figures.memory = memoryLimits
        (figures.memory.entryCount, figures.memory.byteCount) = memory.withLock { ($0.count, $0.cost) }
        guard archives == nil else {
            figures.memory.byteCount = memoryCost
            return figures
        }
        figures.disk = diskLimits
        let size = knownDiskSize
        (figures.disk.entryCount, figures.disk.byteCount) = (size?.entryCount, size?.byteCount)
        return figures
    }

    /// The size of the store as far as it is known without I/O; `nil` if it is not, or if the cache is in memory alone.
    var knownDiskSize: KnownSize? { archives == nil ? store.knownSize : nil }

    /// Publishes the figures, if the settings say so. Blocks on disk I/O.
    func publishStatistics() {
        guard let publisher, usage.isUsable else { return }
        do throws(StoreError) {
            try publisher.publish(figures)
        } catch {
            report(error, as: .failed, of: nil)
        }
    }
}
