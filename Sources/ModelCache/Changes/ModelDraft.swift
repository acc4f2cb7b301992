import Foundation

/// Changes of models and lists that are made together. See ``Models/change(_:sending:then:)``.
public struct ModelDraft: Sendable {
    var steps: [any DraftStep] = []
    /// The models that are taken out of every list.
    private(set) var withdrawn: [EntryName] = []
    /// The models that links held in decoded answers.
    let nested = NestedModels()
    private let makeDecoder: @Sendable () -> JSONDecoder

    init(decoder: @escaping @Sendable () -> JSONDecoder) { makeDecoder = decoder }

    /// Changes a model; nothing, if it is not there.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - id: its identity.
    ///   - edit: runs again whenever the model changes below, so it should do nothing but change the model.
    public mutating func update<Model: CachedModel>(
        _ type: Model.Type,
        id: Model.ID,
        _ edit: @escaping @Sendable (inout Model) -> Void
    ) {
        steps.append(
            ModelStep<Model>(key: id.cacheKey) { model in
                guard var changed = model else { return }
                edit(&changed)
                model = changed
            }
        )
    }

    /// Puts a model in the place of the one with its identity, or adds it.
    public mutating func save<Model: CachedModel>(_ model: Model) {
        steps.append(ModelStep<Model>(key: model.id.cacheKey) { $0 = model })
    }

    /// Decodes a model from the answer to the change's request, and puts it in the place of the one with its identity, or adds it.
    ///
    /// Whole models in the place of links become models of their own when the change is confirmed, in the order of a fetch
    /// that began with `sending`: they do not replace models that were saved or requested since.
    ///
    /// - Parameters:
    ///   - type: the model's type.
    ///   - data: JSON, for the decoder that the cache was opened with.
    ///   - path: as for ``ModelBody/decode(_:at:)``.
    /// - Returns: the model.
    /// - Throws: `DecodingError`; then the draft is as it was.
    @discardableResult
    public mutating func save<Model: CachedModel>(
        _ type: Model.Type,
        decoding data: Data,
        at path: String...
    ) throws -> Model {
        let body = ModelBody(data, decoder: makeDecoder)
        let model = try body.decode(type, at: path)
        nested.add(body.nested)
        save(model)
        return model
    }

    /// Removes a model. It leaves no hole in the lists that have it, as long as the change is not confirmed.
    public mutating func remove<Model: CachedModel>(_ type: Model.Type, id: Model.ID) {
        steps.append(ModelStep<Model>(key: id.cacheKey, isRemoval: true) { $0 = nil })
    }

    /// Saves a model, and puts it into a list. A list that is not stored is not changed.
    public mutating func insert<List: ModelList>(_ model: List.Element, into list: List, at place: ListPlace) {
        save(model)
        insert(id: model.id, into: list, at: place)
    }

    /// Puts a model into a list by its identity. A list that is not stored is not changed.
    public mutating func insert<List: ModelList>(id: List.Element.ID, into list: List, at place: ListPlace) {
        let key = id.cacheKey
        steps.append(ListStep(key: list.listKey, tags: list.tags) { $0?.insert(key, at: place) })
    }

    /// Removes a list. Its elements stay; its next fetch begins with the first page.
    public mutating func remove(_ list: some ModelList) {
        steps.append(ListStep(key: list.listKey, tags: list.tags, isRemoval: true) { $0 = nil })
    }

    /// Takes a model out of a list. The model itself stays.
    public mutating func remove<List: ModelList>(id: List.Element.ID, from list: List) {
        let key = id.cacheKey
        steps.append(ListStep(key: list.listKey, tags: list.tags) { $0?.remove(key) })
    }

    /// Removes a model, and takes it out of every stored list that has it: for a model that the server has deleted.
    ///
    /// Lists that are on disk alone are read for that, so it takes time in proportion to all lists of the account.
    public mutating func removeEverywhere<Model: CachedModel>(_ type: Model.Type, id: Model.ID) {
        remove(type, id: id)
        withdrawn.append(ModelTable<Model>.name(id.cacheKey))
    }

    /// Puts a model that is saved under the server's identity in the place of the one that was shown under the program's own, in
    /// the lists of this draft. For the closure `then` of ``Models/change(_:sending:then:)``.
    ///
    /// Other changes of the model that was shown, confirmed or not, are changes of the new one; so are later ones by the
    /// former identity, as long as that is among the last 1,024 of the type, and in this process.
    public mutating func replace<Model: CachedModel>(_ type: Model.Type, id: Model.ID, by new: Model.ID) {
        let (key, newKey) = (id.cacheKey, new.cacheKey)
        guard key != newKey else { return }
        // The model that was shown is never stored: changes that wait for it are for the other one.
        steps.removeAll { ($0 as? ModelStep<Model>)?.key == key }
        steps.append(ModelStep<Model>(key: key, newKey: newKey, isRemoval: true) { $0 = nil })
        var lists: Set<String> = []
        for case let step as ListStep in steps where lists.insert(step.key).inserted {
            steps.append(
                ListStep(key: step.key, tags: step.tags) { list in
                    if list?.modelName == Model.modelName { list?.replace(key, by: newKey) }
                }
            )
        }
    }
}
