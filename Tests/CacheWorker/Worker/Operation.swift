/// An operation of a worker on a cache.
enum Operation: Hashable, CustomStringConvertible {
    /// With a lifetime, the value expires so long after it was saved.
    case save(String, lifetime: Duration? = nil)
    case fetch(String)
    /// Fetches with a producer, which takes a while, one among all processes.
    case load(String)
    case contains(String)
    case remove(String)
    case removeAll
    /// Removes all entries that were saved with a tag, see ``Tag``.
    case removeTagged(String)
    case keys
    case count
    /// Waits until all saves are on disk.
    case flush
    /// Adds one to the number under a key, in one step.
    case increment(String)
    /// Reads a value and saves another in its place, in one step; its answer is the value that it read.
    case change(String)
    /// The producer of a load runs. Begins and ends within the load.
    case produce(String)
    /// Evicts entries on disk until so many bytes are left.
    case trim(Int)

    var description: String {
        switch self {
        case .save(let key, nil): "save \(key)"
        case .save(let key, let lifetime?): "save \(key) for \(lifetime / .microseconds(1))"
        case .fetch(let key): "fetch \(key)"
        case .load(let key): "load \(key)"
        case .contains(let key): "contains \(key)"
        case .remove(let key): "remove \(key)"
        case .removeAll: "removeAll"
        case .removeTagged(let tag): "removeTagged \(tag)"
        case .keys: "keys"
        case .count: "count"
        case .flush: "flush"
        case .increment(let key): "increment \(key)"
        case .change(let key): "change \(key)"
        case .produce(let key): "produce \(key)"
        case .trim(let byteCount): "trim \(byteCount)"
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
        case "flush": self = .flush
        case "trim":
            guard let byteCount = words.popFirst().flatMap({ Int($0) }) else { return nil }
            self = .trim(byteCount)
        case "increment":
            guard let key = key() else { return nil }
            self = .increment(key)
        case "change":
            guard let key = key() else { return nil }
            self = .change(key)
        case "produce":
            guard let key = key() else { return nil }
            self = .produce(key)
        case "removeTagged":
            guard let tag = key() else { return nil }
            self = .removeTagged(tag)
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
        case "load":
            guard let key = key() else { return nil }
            self = .load(key)
        case "contains":
            guard let key = key() else { return nil }
            self = .contains(key)
        case "remove":
            guard let key = key() else { return nil }
            self = .remove(key)
        default: return nil
        }
    }
}
