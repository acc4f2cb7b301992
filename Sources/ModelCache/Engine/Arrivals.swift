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
        let arrived = TypedArrivals<Model>.Part(models: models, source: source)
        if let place = places[ObjectIdentifier(Model.self)] {
            guard var group = groups[place] as? TypedArrivals<Model> else { return }
            group.parts.append(arrived)
            groups[place] = group
        } else {
            places[ObjectIdentifier(Model.self)] = groups.count
            groups.append(TypedArrivals(parts: [arrived]))
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
    /// Merges them over the stored models. Runs in a turn of merges.
    nonisolated(nonsending) func prepare(
        _ state: ArrivalState,
        in engine: ModelEngine,
        _ bookkeeping: Bookkeeping
    ) async throws(ModelCacheError) -> PreparedMerge
}

/// Puts merged entries in the place of those that are there. Does no I/O; is called in the turn in which it was prepared.
typealias PreparedMerge = @Sendable () -> MergedGroup

/// The changed entries of one table, and how they are written to disk.
struct MergedGroup: Sendable {
    let names: [EntryName]
    let count: Int
    let write: @Sendable () -> CacheError?
}

struct TypedArrivals<Model: CachedModel>: ArrivalGroup {
    /// Models of one source, in the order in which they ended in the answer.
    struct Part: Sendable {
        let models: [Model]
        let source: ModelSource
    }

    var parts: [Part]

    nonisolated(nonsending) func prepare(
        _ state: ArrivalState,
        in engine: ModelEngine,
        _ bookkeeping: Bookkeeping
    ) async throws(ModelCacheError) -> PreparedMerge {
        let table = try await engine.table(Model.self)
        let keys = parts.flatMap { $0.models.cacheKeys }
        var entries = try await engine.records(table.records, keys)
        let changed = merged(over: &entries, keys: keys, state, in: bookkeeping)
        var records: [(key: String, record: ModelRecord<Model>?, tags: Set<String>)] = []
        records.reserveCapacity(changed.count)
        for place in changed { records.append((keys[place], entries[place], entries[place]?.model.tags ?? [])) }
        let merged = records
        let name = Model.modelName
        return {
            let due = table.records.change(merged)
            return MergedGroup(names: due.map { EntryName(model: name, key: $0.key) }, count: due.count) {
                table.records.write(due)
            }
        }
    }

    /// Merges the models over the entries that are there; of models with the same key, into the entry of the first.
    ///
    /// - Returns: the places of the entries that change, each once, in the order in which their models ended in the answer:
    ///   a model that was inside another one, or came before one that refers to it, is on disk before that.
    private func merged(
        over entries: inout [ModelRecord<Model>?],
        keys: [String],
        _ state: ArrivalState,
        in bookkeeping: Bookkeeping
    ) -> [Int] {
        let generation = bookkeeping.generation
        let arriving = EntryState(
            state.lifetime ?? ResponseLifetime(at: state.receivedAt),
            generation: generation,
            revision: state.revision,
            receivedAt: state.receivedAt,
            fresh: Model.policy.fresh
        )
        var changed: [Int] = []
        changed.reserveCapacity(keys.count)
        var isChanged = [Bool](repeating: false, count: keys.count)
        var firsts: [String: Int] = [:]
        firsts.reserveCapacity(keys.count)
        var index = 0
        for part in parts {
            for number in part.models.indices {
                let place = firsts[keys[index]] ?? index
                if place == index { firsts[keys[index]] = index }
                index += 1
                let merged = Self.merged(
                    part.models[number],
                    from: part.source,
                    over: entries[place],
                    key: keys[place],
                    arriving: arriving,
                    in: bookkeeping
                )
                guard let merged else { continue }
                entries[place] = merged
                if !isChanged[place] { changed.append(place) }
                isChanged[place] = true
            }
        }
        return changed
    }

    /// - Returns: `nil` if a later request's answer, or a later save, is there already.
    private static func merged(
        _ model: Model,
        from source: ModelSource,
        over old: ModelRecord<Model>?,
        key: String,
        arriving: EntryState,
        in bookkeeping: Bookkeeping
    ) -> ModelRecord<Model>? {
        var state = arriving
        guard let old else {
            if source != .detail { state.validators = nil }
            return ModelRecord(model: model, state: state)
        }
        let isKnown = old.state.generation == arriving.generation
        if isKnown, old.state.revision > arriving.revision { return nil }
        let merged = Model.merge(model, over: old.model, from: source)
        guard source != .detail else { return ModelRecord(model: merged, state: state) }
        // A validator belongs to the model's own answer: it holds as long as the model is as that answer had it.
        state.validators = old.state.validators == nil || merged != old.model ? nil : old.state.validators
        if source != .pushed, !Model.isComplete(model) {
            // Fields that did not come are as old as they were.
            let scopes = ModelEngine.scopes(of: old.model, key)
            state.fetchedAt = old.state.fetchedAt
            state.freshUntil =
                bookkeeping.isInvalidated(old.state, in: scopes) ? arriving.fetchedAt : old.state.freshUntil
        }
        return ModelRecord(model: merged, state: state)
    }
}
