import Foundation

/// The hits that memory of each size would have, and the sizes worth choosing.
package struct SizeAdvice: Sendable {
    /// A size of memory, and the shares of fetches that it would answer.
    package struct Point: Sendable, Hashable {
        /// In bytes, as memory counts them.
        package let byteCount: Int
        /// Under the package's own policy; 0 to 1.
        package let hitRatio: Double
        /// If memory evicted the least recently used entry first; 0 to 1.
        package let leastRecentlyUsed: Double
    }

    /// Points for the simulated sizes, up to the one that holds all keys that were seen, evenly spaced on a logarithmic
    /// scale; each is larger by the square root of two.
    package let points: [Point]
    /// The smallest size with nearly as many hits as any: more memory brings little. `nil` if no size has hits.
    package let knee: Point?
    /// The shares at the limit of memory that the profile names, if it names one.
    package let present: Point?

    /// `nil` as long as too little was counted.
    package init?(_ profile: UseProfile) {
        guard profile.uses >= Self.fewestUses, let sizes = profile.simulatedSizes else { return nil }
        points = sizes.compactMap { profile.point(SizeScale.byteCount($0)) }
        guard points.count >= 2 else { return nil }
        knee = Self.knee(of: points)
        present = profile.byteLimit.flatMap { limit in
            guard limit > 0 else { return nil }
            // All keys fit beyond the largest size.
            return profile.point(Double(limit))
        }
    }

    /// With fewer fetches, the shares say nothing.
    package static var fewestUses: Double { 1_000 }

    /// The smallest size whose share of hits is within two points of the largest share.
    private static func knee(of points: [Point]) -> Point? {
        guard let most = points.map(\.hitRatio).max(), most > 0.02 else { return nil }
        return points.first { $0.hitRatio >= most - 0.02 }
    }
}
