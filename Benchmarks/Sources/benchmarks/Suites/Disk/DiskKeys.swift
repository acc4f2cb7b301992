/// Keys that are made before anything is measured.
enum DiskKeys {
    /// More than any work uses up.
    static let all = (0..<1_000_000).map { "article-\(1_000_000 + $0)" }

    /// One of the first keys: by a prime step, so that neighbours on disk are not asked for one after the other.
    static func scattered(_ index: Int, of entryCount: Int) -> String { all[index * 7_919 % entryCount] }
}
