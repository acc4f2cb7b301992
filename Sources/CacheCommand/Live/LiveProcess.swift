import Foundation
import KeyedArchive
import TypedCache

/// A cache as a process has it open, with the figures that the process last published.
struct LiveProcess: Sendable {
    /// `nil` where all caches are of one app.
    let app: String?
    let cache: String
    let published: PublishedCache

    /// Tells it from all others from one look to the next.
    struct Identity: Hashable {
        let app: String?
        let cache: String
        let process: Int
        let program: String
    }

    enum State: String, Sendable {
        case running
        /// The process lives, and has told nothing for longer than it should: it was stopped, say.
        case silent
        /// The process has ended without closing the cache.
        case ended
    }

    /// How many signs of life may be missing.
    private static let patience = 3.0

    var identity: Identity {
        Identity(app: app, cache: cache, process: statistics.processIdentifier, program: statistics.program)
    }

    var statistics: PublishedStatistics { published.statistics }
    var figures: CacheFigures { published.statistics.figures }

    func state(at date: Date) -> State {
        guard published.isLive else { return .ended }
        let silence = date.timeIntervalSince(statistics.publishedAt)
        return silence > Self.patience * PublishedCache.heartbeat.inSeconds ? .silent : .running
    }
}

/// All caches at one look, and the reasons why some cannot be read.
struct LiveSample: Sendable {
    var date: Date
    var processes: [LiveProcess] = []
    /// The caches that no process tells of.
    var quietCaches: [String] = []
    /// Sentences, fit to be shown.
    var faults: [String] = []
}

extension LiveSample {
    /// Looks at all caches of some places.
    ///
    /// - Throws: if the first place cannot be read, and is the only one.
    init(_ places: [(app: String?, location: CacheLocation)], in backend: any CacheBackend, at date: Date) throws {
        self.init(date: date)
        for (app, location) in places {
            for name in try backend.names(at: location) {
                do {
                    let (caches, faults) = try backend.published(CacheSelection(name: name, location: location))
                    processes += caches.map { LiveProcess(app: app, cache: name, published: $0) }
                    if caches.isEmpty { quietCaches.append(name) }
                    if let fault = faults.first { note(fault, of: name) }
                } catch {
                    note(error, of: name)
                }
            }
        }
    }

    private mutating func note(_ fault: any Error, of cache: String) {
        faults.append("\(EscapedText(cache, limit: 200)): \(CommandFailureMessage(fault))")
    }
}
