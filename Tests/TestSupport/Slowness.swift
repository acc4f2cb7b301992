import Foundation

/// How many times as long as usual tests may take: `TYPED_CACHE_SLOWNESS`, which `Scripts/sanitize` sets.
package let slowness = ProcessInfo.processInfo.environment["TYPED_CACHE_SLOWNESS"].flatMap { Int($0) } ?? 1
