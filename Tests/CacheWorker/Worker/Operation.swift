/// What a worker does on a cache.
enum Operation: Hashable, CustomStringConvertible {
    /// With a lifetime, the value expires so long after it was saved.
    case save(String, lifetime: Duration? = nil)
    case fetch(String)
    case contains(String)
    case remove(String)
    case removeAll
    case keys
    case count

    var description: String {
        switch self {
        case .save(let key, nil): "save \(key)"
        case .save(let key, let lifetime?): "save \(key) for \(lifetime / .microseconds(1))"
        case .fetch(let key): "fetch \(key)"
        case .contains(let key): "contains \(key)"
        case .remove(let key): "remove \(key)"
        case .removeAll: "removeAll"
        case .keys: "keys"
        case .count: "count"
        }
    }

    /// Takes the words of an operation off the front of `words`; `nil` if there is none.
    init?(takingFrom words: inout ArraySlice<Substring>) {
        guard let name = words.popFirst() else { return nil }
        func key() -> String? { words.popFirst().map(String.init) }
        switch name {
        case "removeAll": self = .removeAll
        case "keys": self = .keys
        case "count": self = .count
        case "save":
            guard let key = key() else { return nil }
            var lifetime: Duration?
            if words.first == "for" {
                guard let number = words.dropFirst().first.flatMap({ Double($0) }) else { return nil }
                lifetime = .microseconds(1) * number
                words = words.dropFirst(2)
            }
            self = .save(key, lifetime: lifetime)
        case "fetch":
            guard let key = key() else { return nil }
            self = .fetch(key)
        case "contains":
            guard let key = key() else { return nil }
            self = .contains(key)
        case "remove":
            guard let key = key() else { return nil }
            self = .remove(key)
        default: return nil
        }
    }

    /// After that, what was saved for a time has expired.
    static let longestLifetime = Duration.milliseconds(5)

    /// One of `keys` or all of them, mostly saves and fetches.
    static func random(of keys: [String], using random: inout SeededGenerator) -> Operation {
        // The first keys more often, so that operations meet.
        let indices = (0..<2).map { _ in Int.random(in: 0..<keys.count, using: &random) }
        let key = keys[min(indices[0], indices[1])]
        switch Int.random(in: 0..<200, using: &random) {
        case 0..<75: return .save(key)
        case 75..<100:
            return .save(key, lifetime: longestLifetime / Int.random(in: 1...50, using: &random))
        case 100..<165: return .fetch(key)
        case 165..<175: return .contains(key)
        case 175..<196: return .remove(key)
        case 196...197: return .removeAll
        default: return .keys
        }
    }
}
