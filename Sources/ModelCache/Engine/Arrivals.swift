import Foundation
import TypedCache

/// The models of one answer, or of one save, by type.
struct Arrivals: Sendable {
    private(set) var groups: [any ArrivalGroup] = []
    private var places: [ObjectIdentifier: Int] = [:]

    /// Adds models behind those that were added before; of two with the same identity the later one is merged over the
    /// earlier one.
    mutating func add<Model: CachedModel>(_ models: [Model], from source: ModelSource) {
        guard !models.isEmpty else { return }
        let arrived = models.map { TypedArrivals<Model>.Arrival(model: $0, source: source) }
        if let place = places[ObjectIdentifier(Model.self)] {
            guard var group = groups[place] as? TypedArrivals<Model> else { return }
            group.models += arrived
            groups[place] = group
        } else {
            places[ObjectIdentifier(Model.self)] = groups.count
            groups.append(TypedArrivals(models: arrived))
        }
    }

    /// Adds the models that were found inside others.
    mutating func add(_ nested: NestedModels) {
        for model in nested.models { add(opening: model) }
    }

    private mutating func add(opening model: some CachedModel) { add([model], from: .nested) }
}

/// The age and the validators of an answer, for each of its models.
struct ArrivalState: Sendable {
    let lifetime: ResponseLifetime?
    let revision: Revision
    let receivedAt: Date
}

/// The models of one type in an answer.
protocol ArrivalGroup: Sendable {
    /// Merges them over what is there.
    nonisolated(nonsending) func merge(
        _ state: ArrivalState,
        in engine: ModelEngine,
        _ bookkeeping: Bookkeeping
    ) async throws(ModelCacheError) -> MergedGroup
}

/// The changed entries of one table, and how they are written to disk.
struct MergedGroup: Sendable {
    let names: [EntryName]
    let count: Int
    let write: @Sendable () -> CacheError?
}

struct TypedArrivals<Model: CachedModel>: ArrivalGroup {
    struct Arrival: Sendable {
        let model: Model
        let source: ModelSource
    }

    var models: [Arrival]

    nonisolated(nonsending) func merge(
        _ state: ArrivalState,
        in engine: ModelEngine,
        _ bookkeeping: Bookkeeping
    ) async throws(ModelCacheError) -> MergedGroup {
        let table = try await engine.table(Model.self)
        let keys = models.map(\.model.id.cacheKey)
        let former = try await engine.records(table.records, keys)
        var current: [String: ModelRecord<Model>] = [:]
        current.reserveCapacity(keys.count)
        for (key, record) in zip(keys, former) { current[key] = record }
        let changed = merged(over: &current, keys, state, bookkeeping)
        // After the disk was read: from here on nothing suspends, so that an ended cache changes nothing any more.
        try engine.checkUsable()
        var written: [RecordTable<ModelRecord<Model>>.Due] = []
        written.reserveCapacity(changed.count)
        for (key, record) in changed {
            written.append(table.records.change(key, to: record, tags: record.model.tags))
        }
        let writes = written
        return MergedGroup(names: changed.keys.map(ModelTable<Model>.name), count: writes.count) {
            table.records.write(writes)
        }
    }

    /// The entries that change, by key.
    private func merged(
        over current: inout [String: ModelRecord<Model>],
        _ keys: [String],
        _ state: ArrivalState,
        _ bookkeeping: Bookkeeping
    ) -> [String: ModelRecord<Model>] {
        let generation = bookkeeping.generation
        let arriving = EntryState(
            state.lifetime ?? ResponseLifetime(at: state.receivedAt),
            generation: generation,
            revision: state.revision,
            receivedAt: state.receivedAt,
            fresh: Model.policy.fresh
        )
        var changed: [String: ModelRecord<Model>] = [:]
        changed.reserveCapacity(keys.count)
        for (key, arrival) in zip(keys, models) {
            guard let old = current[key] else {
                var new = arriving
                if arrival.source != .detail { new.validators = nil }
                let record = ModelRecord(model: arrival.model, state: new)
                current[key] = record
                changed[key] = record
                continue
            }
            // A later request's answer, or a later save, is there already.
            let isKnown = old.state.generation == generation
            if isKnown, old.state.revision > state.revision { continue }
            let isInvalidated = bookkeeping.isInvalidated(old.state, in: ModelEngine.scopes(of: old.model, key))
            let record = Self.merged(arrival, over: old, arriving, isInvalidated: isInvalidated)
            current[key] = record
            changed[key] = record
        }
        return changed
    }

    private static func merged(
        _ arrival: Arrival,
        over old: ModelRecord<Model>,
        _ arriving: EntryState,
        isInvalidated: Bool
    ) -> ModelRecord<Model> {
        let model = Model.merge(arrival.model, over: old.model, from: arrival.source)
        var state = arriving
        guard arrival.source != .detail else { return ModelRecord(model: model, state: state) }
        // A validator belongs to the model's own answer: it holds as long as the model is as that answer had it.
        state.validators = model == old.model ? old.state.validators : nil
        if arrival.source != .pushed, !Model.isComplete(arrival.model) {
            // Fields that did not come are as old as they were.
            state.fetchedAt = old.state.fetchedAt
            state.freshUntil = isInvalidated ? arriving.fetchedAt : old.state.freshUntil
        }
        return ModelRecord(model: model, state: state)
    }
}
