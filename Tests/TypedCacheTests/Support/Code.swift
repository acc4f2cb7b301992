import TypedCache

/// The code of the cache's error that `body` throws; `nil` if it throws none.
func code(_ body: () throws -> some Any) -> CacheError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? CacheError)?.code
    }
}
