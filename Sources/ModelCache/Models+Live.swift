extension Models {
    /// A model for a view: an object that shows each change of it. Asks no server by itself.
    @MainActor
    public func live<Model: CachedModel>(_ type: Model.Type, id: Model.ID) -> LiveModel<Model> {
        LiveModel(engine, id)
    }

    /// The model that a link refers to, for a view. All else is as for ``live(_:id:)``.
    @MainActor
    public func live<Model: CachedModel>(_ link: ModelLink<Model>) -> LiveModel<Model> {
        LiveModel(engine, link.id)
    }

    /// Some models for a view. All else is as for ``live(_:id:)``.
    @MainActor
    public func live<Model: CachedModel>(_ type: Model.Type, ids: some Sequence<Model.ID>) -> LiveModels<Model> {
        LiveModels(engine, Array(ids))
    }

    /// A list for a view: an object that shows each change of it and of its elements. Asks no server by itself.
    @MainActor
    public func live<List: ModelList>(_ list: List) -> LiveList<List> { LiveList(engine, list) }
}
