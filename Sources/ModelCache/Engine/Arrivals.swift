import Foundation
import TypedCache

/// The models of one answer, or of one save, by type.
struct Arrivals: Sendable {
    private(set) var groups: [any ArrivalGroup] = []
    private var places: [ObjectIdentifier: Int] = [:]

    /// Appends models. Of two with the same identity, the later one is merged over the earlier one.
    mutating func add<Model: CachedModel>(_ models: [Model], from source: ModelSource) {
        add(models, keys: models.cacheKeys, from: source)
    }

    /// The same, for models whose keys are known.
    mutating func add<Model: CachedModel>(_ models: [Model], keys: [String], from source: ModelSource) {
        guard !models.isEmpty else { return }
        let arrived = TypedArrivals<Model>.Part(models: models, keys: keys, source: source)
        if let place = places[ObjectIdentifier(Model.self)] {
            guard var group = groups[place] as? TypedArrivals<Model> else { return }
            // A second reference would have all parts copied.
            groups[place] = TypedArrivals<Model>(parts: [])
            group.add(arrived)
            groups[place] = group
        } else {
            places[ObjectIdentifier(Model.self)] = groups.count
            groups.append(TypedArrivals(parts: [arrived]))
        }
    }

    /// Adds the models that were found inside other models.
    mutating func add(_ nested: NestedModels) {
        for model in nested.models { add(opening: model) }
    }

    private mutating func add(opening model: some CachedModel) { add([model], from: .nested) }

    /// Merges them over the stored models. Runs in a turn of merges.
    nonisolated(nonsending) func prepare(
        _ state: ArrivalState,
        in tables: ModelTables
    ) async throws(ModelCacheError) -> [PreparedMerge] {
        var merges: [PreparedMerge] = []
        for group in groups { merges.append(try await group.prepare(state, in: tables)) }
        return merges
    }
}

/// The age and the validators of an answer, for each of its models.
struct ArrivalState: Sendable {
    let lifetime: ResponseLifetime?
    let revision: Revision
    let requestedAt: Date
    let receivedAt: Date
}

extension ArrivalState {
    /// Of models that the program has from elsewhere: nothing is said about their lifetime.
    init(pushedAt date: Date, asOf revision: Revision) {
        self.init(pushedAt: date, since: RequestStart(revision: revision, date: date))
    }

    /// The same for the answer to a request of the program's own.
    init(pushedAt date: Date, since start: RequestStart) {
        self.init(lifetime: nil, revision: start.revision, requestedAt: start.date, receivedAt: date)
    }
}

/// The models of one type in an answer.
protocol ArrivalGroup: Sendable {
    /// Merges them over the stored models. Runs in a turn of merges.
    nonisolated(nonsending) func prepare(
        _ state: ArrivalState,
        in tables: ModelTables
    ) async throws(ModelCacheError) -> PreparedMerge
}

/// Replaces the present entries by merged ones. Does no I/O; is called in the turn in which it was prepared.
typealias PreparedMerge = @Sendable () -> MergedGroup

/// The changed entries of one table, and how they are written to disk.
struct MergedGroup: Sendable {
    /// The name of the models; `nil` for lists.
    let model: String?
    let due: WaitingChanges.Due
    let write: @Sendable () -> CacheError?

    var count: Int { due.changes.count }
    var names: [EntryName] {
        due.changes.map { EntryName(model: model, key: $0.key) }
            + due.renewed.map { EntryName(model: model, key: $0) }
    }
}

struct TypedArrivals<Model: CachedModel>: ArrivalGroup {
    /// Models of one source, in the order in which they ended in the answer.
    struct Part: Sendable {
        var models: [Model]
        /// The models' keys, in their order.
        var keys: [String]
        let source: ModelSource
    }

    private(set) var parts: [Part]

    mutating func add(_ part: Part) {
        guard let last = parts.indices.last, parts[last].source == part.source else { return parts.append(part) }
        parts[last].models += part.models
        parts[last].keys += part.keys
    }

    nonisolated(nonsending) func prepare(
        _ state: ArrivalState,
        in tables: ModelTables
    ) async throws(ModelCacheError) -> PreparedMerge {
        let table = try await tables.table(Model.self)
        let keys = try wrappingCacheErrors { () throws(CacheError) in try PreparedKeys(parts.flatMap(\.keys)) }
        let found = try await tables.records(table.records, keys)
        table.removals.expire(since: state.requestedAt, at: tables.clock.now)
        let changes = merged(over: found, keys: keys, state, table.removals, in: tables.bookkeeping)
        return { table.merged(changes, at: state.revision) }
    }

    /// Merges the models over the stored entries. Models with the same key become one entry, in the first one's place.
    ///
    /// - Returns: the entries that change, each once, in the order in which their models ended in the answer: a model that
    ///   was inside another one, or came before one that refers to it, is on disk before that.
    private func merged(
        over found: RecordTable<ModelRecord<Model>>.Found,
        keys: PreparedKeys,
        _ state: ArrivalState,
        _ removals: Removals,
        in bookkeeping: Bookkeeping
    ) -> RecordTable<ModelRecord<Model>>.Changes {
        let arriving = bookkeeping.state(of: state, fresh: Model.policy.freshness)
        let places = keys.firstPlaces()
        var changes = RecordTable<ModelRecord<Model>>.Changes(capacity: places.count)
        // The index of each place's change; less than zero where the place has no change yet.
        var numbers = [Int](repeating: -1, count: places.count)
        var index = 0
        for part in parts {
            let isFromPart = Model.partialSources.contains(part.source)
            // By index, and not of the array: that asks the runtime for its type at each step. Of a slice, since on Apple
            // platforms an array's own span needs later systems.
            let slice = part.models[...]
            let models = slice.span
            for model in models.indices {
                let place = places[index]
                index += 1
                let number = numbers[place]
                let merged = Self.merged(
                    models[model],
                    from: part.source,
                    isFromPart: isFromPart,
                    over: number < 0 ? found[place] : changes.record(number),
                    key: keys[place],
                    arriving: arriving,
                    removals: removals,
                    in: bookkeeping
                )
                guard let merged else { continue }
                if number < 0 {
                    numbers[place] = changes.count
                    changes.append(keys[place], merged, tags: merged.model.tags)
                } else {
                    changes.replace(number, merged, tags: merged.model.tags)
                }
            }
        }
        // Models that the program saves are written in any case: their caller waits for the disk.
        if Model.policy.expiration.countsFromSave || parts.contains(where: { $0.source == .pushed }) {
            return changes
        }
        for place in numbers.indices where numbers[place] >= 0 {
            guard let old = found[place], let new = changes.record(numbers[place]),
                Self.renews(new, old, key: keys[place], in: bookkeeping)
            else { continue }
            let renewed = ModelRecord(model: old.model, state: new.state, renewing: old)
            changes.replace(numbers[place], renewed, tags: new.model.tags)
            changes.renew(numbers[place])
        }
        return changes
    }

    /// Whether an entry differs from the old one by its age and revision alone, and the one on disk may stay: after a
    /// restart that counts as fresh for a minute less at most.
    private static func renews(
        _ new: ModelRecord<Model>,
        _ old: ModelRecord<Model>,
        key: String,
        in bookkeeping: Bookkeeping
    ) -> Bool {
        new.state.renews(old.state, writtenAt: old.writtenAt) && new.model == old.model
            && !bookkeeping.isInvalidated(old.state, in: InvalidationScope.all(of: old.model, key))
    }

    /// - Returns: `nil` if a later request's answer, or a later save, is there already, or the model was removed or lost
    ///   later.
    private static func merged(
        _ model: Model,
        from source: ModelSource,
        isFromPart: Bool,
        over old: ModelRecord<Model>?,
        key: String,
        arriving: EntryState,
        removals: Removals,
        in bookkeeping: Bookkeeping
    ) -> ModelRecord<Model>? {
        guard let old else {
            if removals.covers(arriving.revision, of: key) { return nil }
            var state = arriving
            if source != .detail { state.validators = nil }
            if isFromPart { state.isPartial = true }
            return ModelRecord(model: model, state: state)
        }
        if bookkeeping.comparable(old.state) > arriving.revision { return nil }
        let merged = Model.merge(model, over: old.model, from: source)
        guard source != .detail else { return ModelRecord(model: merged, state: arriving) }
        // Missing fields keep their age, and stay the older answer's.
        let isPart = isFromPart || source != .pushed && !Model.isComplete(model)
        var state = arriving
        if isPart {
            state = bookkeeping.changed(
                old.state,
                to: arriving.revision,
                at: arriving.fetchedAt,
                in: InvalidationScope.all(of: old.model, key)
            )
        }
        // A validator belongs to the model's own answer: it holds as long as the model is as that answer had it.
        state.validators = old.state.validators == nil || merged != old.model ? nil : old.state.validators
        return ModelRecord(model: merged, state: state)
    }
}
