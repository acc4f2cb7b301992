import ArchiveStore
import Foundation
import Synchronization

/// Publishes the figures of one open cache: see ``DiskSettings/publishesStatistics``.
final class StatisticsPublisher: Sendable {
    /// How long figures that do not change stay published before they are published again, as a sign of life.
    static let heartbeat = Duration.seconds(10)

    private struct State {
        var published: CacheFigures?
        var time = ContinuousClock.now
        var hasToldFailure = false
    }

    private let file: PublishedFile
    /// The program's name, as it is published.
    private let program: String
    private let openedAt = Date.now
    private let state = RankedMutex(State(), rank: CacheLocks.publishing)
    /// Whether a publication is under way; a slow disk does not make callers queue up.
    private let isPublishing = Atomic<Bool>(false)

    init(directory: String, program: String) throws(StoreError) {
        file = try PublishedFile(directory: directory)
        self.program = program
    }

    /// Publishes `figures` if they have changed, or if the last publication was long ago. Blocks on disk I/O.
    ///
    /// - Throws: the first failure only.
    func publish(_ figures: CacheFigures, at now: ContinuousClock.Instant = .now) throws(StoreError) {
        guard !isPublishing.exchange(true, ordering: .acquiring) else { return }
        defer { isPublishing.store(false, ordering: .releasing) }
        let isDue = state.withLock { $0.published != figures || now - $0.time >= Self.heartbeat }
        guard isDue else { return }
        let statistics = PublishedStatistics(
            processIdentifier: Int(ProcessInfo.processInfo.processIdentifier),
            program: program,
            openedAt: openedAt,
            publishedAt: .now,
            figures: figures
        )
        do throws(StoreError) {
            try file.replace(with: statistics.bytes)
            state.withLock {
                $0.published = figures
                $0.time = now
            }
        } catch {
            // The cache was closed in the meantime.
            if error.code == .closed || error.code == .forked { return }
            let isFirst = state.withLock { state in
                defer { state.hasToldFailure = true }
                return !state.hasToldFailure
            }
            if isFirst { throw error }
        }
    }

    /// Takes the published figures back.
    func close() { file.close() }
}
