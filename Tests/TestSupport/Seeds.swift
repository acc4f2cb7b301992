import Foundation

/// Whether tests that take long are run, and laws tried with all of their seeds: if `TYPED_CACHE_LONG` is 1.
package let isLongRun = environment["TYPED_CACHE_LONG"] == "1"

/// The third of the seeds and variants that a long run tries: 0, 1 or 2, as `TYPED_CACHE_THIRD` says; `nil` for all.
///
/// Runs of three commits with different thirds try all of them.
private let third = environment["TYPED_CACHE_THIRD"].flatMap { Int($0) }.map { (($0 % 3) + 3) % 3 }

private let wanted = environment["TYPED_CACHE_SEEDS"].flatMap { Int($0) } ?? 0

private let environment = ProcessInfo.processInfo.environment

/// The seeds of a test that tries a law with random numbers.
///
/// As many as the test says in a long run, or a third of them; else the first tenth of them. At least as many as the
/// environment variable `TYPED_CACHE_SEEDS` asks for.
package func seeds(_ all: Range<Int>) -> Range<Int> {
    let count = isLongRun ? (third == nil ? all.count : (all.count + 2) / 3) : (all.count + 9) / 10
    let first = isLongRun ? all.lowerBound + count * (third ?? 0) : all.lowerBound
    return first..<(first + max(count, wanted))
}

/// How often a test repeats its work: `long` times in a long run, or a third as often; else `short` times.
package func rounds(_ long: Int, short: Int) -> Int {
    isLongRun ? (third == nil ? long : max(short, (long + 2) / 3)) : short
}

/// The variants with which a test tries the `number`th of many alike steps.
///
/// In a long run all, or every third one; else one of them, a different one for each step.
package func variants<Variant>(_ all: [Variant], at number: Int) -> [Variant] {
    guard isLongRun else { return [all[number % all.count]] }
    guard let third else { return all }
    let chosen = all.indices.filter { ($0 + number) % 3 == third }.map { all[$0] }
    return chosen.isEmpty ? [all[(number + third) % all.count]] : chosen
}
