/// The scopes that were invalidated, each at a revision.
struct Invalidations: Hashable, Sendable {
    /// Scopes with a revision each, beyond which the oldest is merged into `floor`.
    static let countLimit = 1_024

    private var scopes: [String: Revision] = [:]
    /// Entries of any scope that are older than this are stale.
    private var floor = Revision.none

    init() {}

    // MARK: On disk

    /// A text for each scope: the revision and the scope's key. Not a dictionary: to decode one, the runtime looks for four
    /// conformances, which takes as long as decoding fifty models.
    var texts: [String] {
        let all =
            floor == .none ? scopes : scopes.merging([InvalidationScope.everything.key: floor]) { max($0, $1) }
        return all.sorted { $0.key < $1.key }.map { "\($0.value.number) \($0.key)" }
    }

    /// - Returns: `nil` if one of the texts is damaged, or there are more than a record has: adding one beyond the limit goes
    ///   through all others.
    init?(_ texts: [String]) {
        guard texts.count <= Self.countLimit + 1 else { return nil }
        for text in texts {
            guard let space = text.utf8.firstIndex(of: UInt8(ascii: " ")), let number = UInt64(text[..<space])
            else {
                return nil
            }
            add(InvalidationScope(key: String(text[text.utf8.index(after: space)...])), at: Revision(number))
        }
    }

    // MARK: Scopes

    /// Makes everything in a scope stale that was asked for before `revision`.
    mutating func add(_ scope: InvalidationScope, at revision: Revision) {
        guard scope != .everything else {
            floor = max(floor, revision)
            // All others are older.
            scopes = scopes.filter { $0.value > floor }
            return
        }
        // Of two at once, the later one may be added first.
        scopes[scope.key] = max(scopes[scope.key] ?? .none, revision)
        guard scopes.count > Self.countLimit, let oldest = scopes.min(by: { $0.value < $1.value }) else { return }
        scopes[oldest.key] = nil
        floor = max(floor, oldest.value)
    }

    /// The latest invalidation of some scopes.
    ///
    /// - Parameter anyTag: whether one of any tag counts, for models whose tags are not known before they are loaded.
    func latest(of concerned: [InvalidationScope], anyTag: Bool) -> Revision {
        var latest = concerned.reduce(floor) { max($0, scopes[$1.key] ?? .none) }
        if anyTag {
            for (key, revision) in scopes where key.hasPrefix(InvalidationScope.tagPrefix) {
                latest = max(latest, revision)
            }
        }
        return latest
    }

    /// Whether an entry of some scopes is stale.
    func covers(_ revision: Revision, in entry: @autoclosure () -> [InvalidationScope]) -> Bool {
        if revision < floor { return true }
        guard !scopes.isEmpty else { return false }
        return entry().contains { scope in scopes[scope.key].map { revision < $0 } ?? false }
    }
}

/// Models and lists that are invalidated together.
public struct InvalidationScope: Hashable, Sendable {
    let key: String

    /// All models and lists of the account.
    public static let everything = InvalidationScope(key: "*")

    /// All models of a type.
    public static func type<Model: CachedModel>(_ type: Model.Type) -> InvalidationScope {
        InvalidationScope(key: "t:\(Model.modelName)")
    }

    /// One model.
    public static func model<Model: CachedModel>(_ type: Model.Type, id: Model.ID) -> InvalidationScope {
        model(type, key: id.cacheKey)
    }

    static func model<Model: CachedModel>(_ type: Model.Type, key: String) -> InvalidationScope {
        InvalidationScope(key: "m:\(Model.modelName)/\(key)")
    }

    /// One list; its elements stay as they are.
    public static func list(_ list: some ModelList) -> InvalidationScope {
        .list(key: list.listKey)
    }

    static func list(key: String) -> InvalidationScope { InvalidationScope(key: "l:\(key)") }

    /// All scopes that contain a model.
    static func all<Model: CachedModel>(of model: Model, _ key: String) -> [InvalidationScope] {
        [.type(Model.self), .model(Model.self, key: key)] + model.tags.map(InvalidationScope.tag)
    }

    /// All scopes that contain a list.
    static func all(of list: some ModelList) -> [InvalidationScope] {
        [.list(list)] + list.tags.map(InvalidationScope.tag)
    }

    /// All models and lists that belong to a group.
    public static func tag(_ tag: String) -> InvalidationScope { InvalidationScope(key: tagPrefix + tag) }

    static var tagPrefix: String { "g:" }
}
