import Foundation
import TypedCache

/// The rates of all processes, from one look to the next.
struct LiveHistory {
    /// How many hit ratios are kept for a sparkline.
    static let trendCount = 120
    /// Figures that are this old have not changed: a process publishes changes once a second.
    private static let settled = 2.5

    private struct Track {
        var last: PublishedStatistics
        var rates: LiveRates?
        var trend: [Double?] = []
    }

    private var tracks: [LiveProcess.Identity: Track] = [:]
    /// The rows of the last look.
    private(set) var rows: [LiveRow] = []

    /// Takes the next look in.
    mutating func add(_ sample: LiveSample) {
        var present: [LiveProcess.Identity: Track] = [:]
        rows = sample.processes.map { process in
            let state = process.state(at: sample.date)
            var track = tracks[process.identity] ?? Track(last: process.statistics)
            Self.update(&track, process.statistics, at: sample.date, isRunning: state == .running)
            present[process.identity] = track
            return LiveRow(process: process, state: state, rates: track.rates, trend: track.trend)
        }
        tracks = present
    }

    private static func update(
        _ track: inout Track,
        _ statistics: PublishedStatistics,
        at date: Date,
        isRunning: Bool
    ) {
        let elapsed = statistics.publishedAt.timeIntervalSince(track.last.publishedAt)
        if elapsed > 0 {
            let changes = statistics.figures.statistics - track.last.figures.statistics
            track.rates = LiveRates(changes, seconds: elapsed)
            track.trend.append(track.rates?.hitRatio)
            track.last = statistics
        } else if !isRunning || date.timeIntervalSince(statistics.publishedAt) > settled {
            track.rates = isRunning ? LiveRates(CacheFigures().statistics, seconds: 1) : nil
            track.trend.append(nil)
        }
        if track.trend.count > trendCount { track.trend.removeFirst(track.trend.count - trendCount) }
    }
}

/// Events per second.
struct LiveRates: Sendable, Equatable {
    let memoryHits: Double
    let diskHits: Double
    let staleHits: Double
    let misses: Double
    let joins: Double
    let saves: Double
    let evictions: Double
    let loads: Double
    /// Seconds that producers ran, per second; more than 1 if several ran at once.
    let loadTime: Double

    /// - Parameter seconds: more than zero.
    init(_ changes: CacheStatistics, seconds: Double) {
        // A cache that was closed takes its counts along.
        func rate(_ count: Int) -> Double { Double(max(0, count)) / seconds }
        memoryHits = rate(changes.memoryHits)
        diskHits = rate(changes.diskHits)
        staleHits = rate(changes.staleHits)
        misses = rate(changes.misses)
        joins = rate(changes.joins)
        saves = rate(changes.saves)
        evictions = rate(changes.memoryEvictions) + rate(changes.diskEvictions)
        loads = rate(changes.loads)
        loadTime = max(0, changes.loadTime.inSeconds) / seconds
    }

    /// Hits among all fetches; `nil` if there were none.
    var hitRatio: Double? {
        let hits = memoryHits + diskHits
        let fetches = hits + staleHits + misses + joins
        return fetches > 0 ? hits / fetches : nil
    }
}

/// A process and a cache, as they are shown.
struct LiveRow: Sendable {
    let process: LiveProcess
    let state: LiveProcess.State
    /// `nil` before the second look.
    let rates: LiveRates?
    /// The hit ratios of the last looks, the latest one last; `nil` where nothing was fetched.
    let trend: [Double?]

    var figures: CacheFigures { process.figures }

    /// The hit ratio of late, or since the cache was opened; `nil` if nothing was fetched.
    var hitRatio: Double? {
        if let ratio = rates?.hitRatio { return ratio }
        let counts = figures.statistics
        return LiveRates(counts, seconds: 1).hitRatio
    }
}
