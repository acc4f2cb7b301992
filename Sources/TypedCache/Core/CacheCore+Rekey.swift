import ArchiveStore

extension CacheCore {
    /// - Parameter goesOn: is called now and then with the progress; rekeying ends where it returns `false`.
    func rekey(while goesOn: (Rekeying) -> Bool = { _ in true }) throws(CacheError) -> Rekeyed {
        try checkUsable()
        return try wrapping { () throws(StoreError) in try Rekeyed(store.rekey(while: goesOn)) }
    }
}
