import Foundation

extension Models {
    /// Returns a list with its elements: the stored one if it is fresh, else with the server's first page.
    ///
    /// Elements that are not stored any longer are loaded by themselves, with ``FetchMode/staleWhileRevalidate`` in the
    /// background; where most are missing, the list is loaded again. Elements that the server does not have leave the list;
    /// elements that cannot be loaded are holes.
    ///
    /// - Throws: as fetching a model, but for `.notFound`: that is a `.status`.
    public nonisolated(nonsending) func fetch<List: ModelList>(
        _ list: List,
        _ mode: FetchMode = .automatic
    ) async throws -> ListSnapshot<List> {
        try await engine.lists.fetch(list, mode)
    }

    /// Loads the page after the last element, and returns the list with it; the list as it is, if it has no more pages.
    ///
    /// A list that is not stored is fetched from its start. A page whose list was changed or invalidated in the meantime is asked
    /// for again, three times in all. If the list ends elsewhere by then as well, it is returned as it is, and
    /// ``ListSnapshot/hasMore`` stays `true`.
    ///
    /// - Throws: as fetching a list; ``ModelCacheError`` with code `.cursorRefused` if the server does not take the
    ///   page's cursor any longer.
    /// - Complexity: O(*n*) in the list's elements, which are returned with the page's: 3 ms of a processor's time for a page of
    ///   100 after 4,000 elements, 11 ms after 20,000.
    public nonisolated(nonsending) func fetchMore<List: ModelList>(of list: List) async throws -> ListSnapshot<List>
    {
        try await engine.lists.fetchMore(of: list)
    }

    /// Loads the page in front of the first element, the earlier messages of a chat say. All else is as for
    /// ``fetchMore(of:)``.
    public nonisolated(nonsending) func fetchPrevious<List: ModelList>(
        of list: List
    ) async throws -> ListSnapshot<List> {
        try await engine.lists.fetchMore(of: list, at: .front)
    }

    /// Loads a list again, all pages that are known of it, and puts the result in its place in one step: elements that the server
    /// has removed or moved after the first page show so as well, and views show the former list until then.
    ///
    /// Pages are asked for one after another, without validators, until the list has as many elements as before, or no more
    /// pages. Where the program changes the list in the meantime, it is asked for again, three times in all; then the first page
    /// alone is loaded, as by ``FetchMode/reload``.
    ///
    /// - Throws: as fetching a list with ``FetchMode/reload``; the stored list stays then.
    public nonisolated(nonsending) func reloadAllPages<List: ModelList>(
        of list: List
    ) async throws -> ListSnapshot<List> {
        try await engine.lists.reloadAllPages(of: list)
    }

    /// Returns a list as it is stored, fresh or stale; `nil` if it is not. Never asks the server.
    ///
    /// - Throws: ``ModelCacheError`` with code `.storage`, `.unknownModel`, `.closed`.
    public nonisolated(nonsending) func stored<List: ModelList>(
        _ list: List
    ) async throws(ModelCacheError) -> ListSnapshot<List>? {
        try await engine.snapshots.snapshot(list)
    }

    /// The snapshots of a list; `nil` where it is not stored. A change of any of its elements is one.
    public func updates<List: ModelList>(of list: List) -> Updates<ListSnapshot<List>?> {
        engine.snapshots.updates(list)
    }
}
