import Foundation

/// Whether tests that take long are run, and laws tried with all of their seeds: if `TYPED_CACHE_LONG` is 1.
package let isLongRun = ProcessInfo.processInfo.environment["TYPED_CACHE_LONG"] == "1"

/// The seeds of a test that tries a law with random numbers.
///
/// As many as the test says in a long run, else the first tenth of them, or as many as the environment variable
/// `TYPED_CACHE_SEEDS` asks for, if that is more.
package func seeds(_ all: Range<Int>) -> Range<Int> {
    let usual = isLongRun ? all.count : (all.count + 9) / 10
    return all.lowerBound..<(all.lowerBound + max(usual, wanted))
}

/// The variants with which a test tries the `number`th of many alike steps: in a long run all, else one of them, a
/// different one for each step.
package func variants<Variant>(_ all: [Variant], at number: Int) -> [Variant] {
    isLongRun ? all : [all[number % all.count]]
}

private let wanted = ProcessInfo.processInfo.environment["TYPED_CACHE_SEEDS"].flatMap { Int($0) } ?? 0
