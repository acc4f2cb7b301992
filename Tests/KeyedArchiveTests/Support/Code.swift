import KeyedArchive

/// The code of the error that `body` throws, or `nil`.
func code(_ body: () throws -> some Any) -> ArchiveError.Code? {
    do {
        _ = try body()
        return nil
    } catch {
        return (error as? ArchiveError)?.code
    }
}
