@testable import SharedCache

/// The history of the masters' state: each version of each key, and the times at which it was there.
struct EngineHistory {
    /// A key has another current version: one that is there, and in the current generation. The two are on different
    /// masters: no call sees both at one instant.
    struct Step {
        let key: String
        let time: Moment
        /// 0 for none.
        let version: UInt64
        let former: UInt64
        /// Whether this version was the current one before.
        let wasThere: Bool
    }

    /// A time in which a version was there, in a generation that need not have been the current one.
    private struct Presence {
        let generation: String
        let begin: Moment
        var end = Moment.max
    }

    private let keys: [String]
    private let cache: String
    private let generationName: String
    private var state: [String: [UInt8]] = [:]
    private var generation = ""
    /// The generations, and when each began.
    private var generations: [(time: Moment, generation: String)] = [(0, "")]
    private var presences: [UInt64: [Presence]] = [:]
    private var history: [String: [Step]] = [:]

    init(_ keys: [String], _ names: EntryNames) {
        self.keys = keys
        cache = names.cache
        generationName = names.generation
    }

    var names: [String] { Array(state.keys) }

    // MARK: Changes

    /// Takes a change of a name.
    ///
    /// - Returns: the keys that have another current version.
    mutating func change(_ name: String, _ new: [UInt8]?, at time: Moment) -> [Step] {
        let former = state[name]
        state[name] = new
        if name == generationName {
            generation = new.map { String(decoding: $0, as: UTF8.self) } ?? ""
            generations.append((time, generation))
            return keys.compactMap { look($0, at: time) }
        }
        guard name.hasSuffix("}") else { return [] }
        note(name, former: former, new: new, at: time)
        guard name.hasPrefix(start) else { return [] }
        return look(String(name.dropFirst(start.count).dropLast()), at: time).map { [$0] } ?? []
    }

    private var start: String { "\(cache)1.\(generation):{" }

    private mutating func note(_ name: String, former: [UInt8]?, new: [UInt8]?, at time: Moment) {
        if former == new { return }
        let generation = String(name.dropFirst(cache.count + 2).prefix(16))
        if let former, case let version = Self.version(of: former),
            let last = presences[version]?.lastIndex(where: { $0.generation == generation })
        {
            presences[version]?[last].end = time
        }
        guard let new else { return }
        presences[Self.version(of: new), default: []].append(Presence(generation: generation, begin: time))
    }

    /// The serial is before the footer of 48 bytes.
    static func version(of bytes: [UInt8]) -> UInt64 {
        bytes.suffix(56).prefix(8).reduce(0) { $0 << 8 | UInt64($1) }
    }

    private mutating func look(_ key: String, at time: Moment) -> Step? {
        let version = state[start + key + "}"].map { Self.version(of: $0) } ?? 0
        let former = current(key)
        if former == version { return nil }
        let wasThere = lastStart(version, key) != nil
        let step = Step(key: key, time: time, version: version, former: former, wasThere: wasThere)
        history[key, default: []].append(step)
        return step
    }

    // MARK: Questions

    func current(_ key: String) -> UInt64 { history[key]?.last?.version ?? 0 }

    /// When a version became the current one at last; `nil` if it never did.
    func lastStart(_ version: UInt64, _ key: String) -> Moment? {
        history[key]?.last { $0.version == version }?.time
    }

    /// The place of a version in the order of the key's versions: when it became the current one at last, or, if its
    /// generation had ended before it came, the end of that.
    func position(_ version: UInt64, _ key: String) -> Moment? {
        let start = lastStart(version, key)
        guard let presence = presences[version]?.last else { return start }
        let end = spans(of: presence.generation).last { $0.upperBound <= presence.begin }?.upperBound
        // A save may have begun again in another generation.
        if let start, let end { return max(start, end) }
        return start ?? end ?? presence.begin
    }

    /// When a generation was the current one. A master that lost its last changes may bring it back.
    private func spans(of generation: String) -> [ClosedRange<Moment>] {
        generations.indices.filter { generations[$0].generation == generation }.map { index in
            generations[index].time...(index + 1 < generations.count ? generations[index + 1].time : Moment.max)
        }
    }

    /// Whether a version was there, and its generation was the current one, each at some moment of a time.
    func wasCurrent(_ version: UInt64, from begin: Moment, to end: Moment) -> Bool {
        (presences[version] ?? []).contains { presence in
            presence.begin <= end && presence.end >= begin
                && spans(of: presence.generation).contains { $0.overlaps(begin...end) }
        }
    }

    /// The versions of a key from the last time on at which one of them was the current one, for messages.
    func steps(_ key: String, from version: UInt64) -> [String] {
        let steps = history[key] ?? []
        let index = steps.lastIndex { $0.version == version } ?? 0
        return steps.dropFirst(index).prefix(4).map { "\($0.version) since \($0.time)" }
    }
}
