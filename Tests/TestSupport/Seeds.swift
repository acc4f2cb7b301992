import Foundation

/// The seeds of a test that tries a law with random numbers.
///
/// As many as the test says, or more where the environment variable `TYPED_CACHE_SEEDS` asks for more.
package func seeds(_ usual: Range<Int>) -> Range<Int> {
    usual.lowerBound..<max(usual.upperBound, usual.lowerBound + wanted)
}

private let wanted = ProcessInfo.processInfo.environment["TYPED_CACHE_SEEDS"].flatMap { Int($0) } ?? 0
