import Foundation

/// Where this package's scripts are.
enum BenchmarksFolder {
    /// Four levels above this file's folder: Benchmarks/Sources/benchmarks/Suites/Warm.
    static let url = (0..<5).reduce(URL(filePath: #filePath)) { url, _ in url.deletingLastPathComponent() }
}
