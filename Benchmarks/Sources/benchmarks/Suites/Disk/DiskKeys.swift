/// Keys that are made before anything is measured.
enum DiskKeys {
    /// More than any work uses up.
    static let all = (0..<1_000_000).map { "article-\(1_000_000 + $0)" }
}
