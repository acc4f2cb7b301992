/// What a worker does on a cache.
enum Operation: Hashable, CustomStringConvertible {
    case save(String)
    case fetch(String)
    case contains(String)
    case remove(String)
    case removeAll
    case keys
    case count

    var description: String {
        switch self {
        case .save(let key): "save \(key)"
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
            self = .save(key)
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

    /// One of `keys` or all of them, mostly saves and fetches.
    static func random(of keys: [String], using random: inout SeededGenerator) -> Operation {
        let key = keys[Int.random(in: 0..<keys.count, using: &random)]
        switch Int.random(in: 0..<200, using: &random) {
        case 0..<100: return .save(key)
        case 100..<165: return .fetch(key)
        case 165..<175: return .contains(key)
        case 175..<196: return .remove(key)
        case 196: return .removeAll
        default: return .keys
        }
    }
}
