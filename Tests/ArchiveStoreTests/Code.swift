import ArchiveStore

/// The code of the store's error that `body` throws; `nil` if it throws none.
func code(_ body: () throws -> some Any) -> StoreError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? StoreError)?.code
    }
}
