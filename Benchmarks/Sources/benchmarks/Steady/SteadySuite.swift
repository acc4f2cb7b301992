import BenchmarkKit
import Foundation

/// A packed store that is full for a long time.
struct SteadySuite: Suite {
    static let name = "steady"
    static let summary = "a full packed store under saves and fetches: pauses, write amplification, its limit"

    func run(_ context: Context) throws {
        let limit = (context.isQuick ? 32 : 256) << 20
        try SteadyRun(context, byteLimit: limit, duration: Self.duration(context)).run()
    }

    /// 20 s, or as many minutes as `TYPED_CACHE_STEADY_MINUTES` says; 3 s if quick.
    private static func duration(_ context: Context) throws -> Duration {
        guard let text = ProcessInfo.processInfo.environment["TYPED_CACHE_STEADY_MINUTES"] else {
            return .seconds(context.isQuick ? 3 : 20)
        }
        guard let minutes = Double(text), minutes > 0 else {
            throw BenchmarkError("TYPED_CACHE_STEADY_MINUTES is not a number of minutes: \(text)")
        }
        return .seconds(minutes * 60)
    }
}
