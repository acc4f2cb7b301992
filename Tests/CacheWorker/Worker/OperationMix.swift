import TestSupport

/// Which operations a worker makes up.
enum OperationMix: String, CaseIterable {
    /// Everything, mostly saves and fetches.
    case all
    /// Without lifetimes, and with few removals, so that a limit is reached.
    case filling
    /// Without lifetimes; saves are on disk only after a flush.
    case flushing
    /// Increments, and fetches.
    case counting
    /// Fetches, loads, changes, saves and removals, as on a server that machines share.
    case sharing

    /// After that time, every save with a lifetime has expired.
    static let longestLifetime = Duration.milliseconds(5)

    /// An operation on one of some keys, or on all of them.
    ///
    /// - Parameters:
    ///   - keys: keys that it may change.
    ///   - others: further keys that it may read.
    func operation(
        on keys: [String],
        reading others: [String] = [],
        using random: inout SeededGenerator
    ) -> Operation {
        // The first keys more often, so that operations meet.
        let indices = (0..<2).map { _ in Int.random(in: 0..<keys.count, using: &random) }
        let key = keys[min(indices[0], indices[1])]
        func readKey() -> String {
            others.isEmpty || Bool.random(using: &random) ? key : others.randomElement(using: &random) ?? key
        }
        let chance = Int.random(in: 0..<200, using: &random)
        switch self {
        case .all:
            switch chance {
            case 0..<75: return .save(key)
            case 75..<100:
                return .save(key, lifetime: Self.longestLifetime / Int.random(in: 1...50, using: &random))
            case 100..<165: return .fetch(readKey())
            case 165..<175: return .contains(readKey())
            case 175..<194: return .remove(key)
            case 194..<196: return .removeTagged(Tag.all.randomElement(using: &random) ?? "")
            case 196...197: return .removeAll
            default: return .keys
            }
        case .filling:
            switch chance {
            case 0..<120: return .save(key)
            case 120..<180: return .fetch(readKey())
            case 180..<185: return .contains(readKey())
            case 185..<197: return .remove(key)
            case 197: return .removeTagged(Tag.all.randomElement(using: &random) ?? "")
            case 198: return Int.random(in: 0..<4, using: &random) == 0 ? .removeAll : .keys
            default: return .keys
            }
        case .flushing:
            switch chance {
            case 0..<110: return .save(key)
            case 110..<175: return .fetch(readKey())
            case 175..<182: return .contains(readKey())
            case 182..<194: return .remove(key)
            default: return .flush
            }
        case .sharing:
            switch chance {
            case 0..<110: return .fetch(readKey())
            case 110..<140: return .load(key)
            case 140..<160: return .save(key)
            case 160..<178: return .change(key)
            case 178..<190: return .remove(key)
            case 190..<197: return .contains(readKey())
            case 197: return .removeAll
            default: return .removeTagged(Tag.all.randomElement(using: &random) ?? "")
            }
        case .counting: return chance < 160 ? .increment(key) : .fetch(readKey())
        }
    }
}
