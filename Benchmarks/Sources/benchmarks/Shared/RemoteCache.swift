import Foundation
import SharedCache
import TypedCache

/// A cache on a server that keeps nothing in memory: each call is one of the server.
struct RemoteCache: Sendable {
    static let keyCount = 512

    let cache: Cache<Article>
    private let articles: [Article]
    private let keys: [String]

    init(_ tier: SharedTier, _ articles: [Article]) throws {
        cache = try Cache(name: "articles", shared: tier, settings: CacheSettings(memory: .none))
        self.articles = articles
        keys = articles.indices.map { "k\($0)" }
        for (key, article) in zip(keys, articles) { try cache.save(article, forKey: key) }
    }

    private func key(_ number: Int) -> String { keys[number & (Self.keyCount - 1)] }

    // MARK: Ways to fetch

    func fetching(tasks: Int) -> [RemoteContestant] {
        var contestants = [
            RemoteContestant(name: "Cache", isOurs: true) { seconds in
                try RemoteWork.measure(tasks: tasks, for: seconds) { number in
                    try check(try await cache.fetch(forKey: key(number)), number)
                }
            }
        ]
        if tasks == 1 {
            contestants.append(
                RemoteContestant(name: "Cache, blocking", isOurs: true) { seconds in
                    try RemoteWork.measureBlocking(for: seconds) { number in
                        try check(try cache.fetch(forKey: key(number)), number)
                    }
                }
            )
        } else {
            contestants.append(
                RemoteContestant(name: "Cache, fetch(forKeys:)", isOurs: true) { seconds in
                    try RemoteWork.measure(tasks: 1, for: seconds, weight: tasks) { number in
                        let wanted = (0..<tasks).map { key(number * tasks + $0) }
                        let found = try await cache.fetch(forKeys: wanted)
                        guard found.count == tasks else { throw BenchmarkError("articles are missing") }
                    }
                }
            )
        }
        return contestants
    }

    private func check(_ found: Article?, _ number: Int) throws {
        guard let found, found.number == number & (Self.keyCount - 1) else {
            throw BenchmarkError("another article was fetched")
        }
    }

    // MARK: Ways to save

    func saving(tasks: Int) -> [RemoteContestant] {
        [
            RemoteContestant(name: "Cache", isOurs: true) { seconds in
                try RemoteWork.measure(tasks: tasks, for: seconds) { number in
                    try await cache.save(articles[number & (Self.keyCount - 1)], forKey: key(number))
                }
            }
        ]
    }
}
