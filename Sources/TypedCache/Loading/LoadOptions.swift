import Foundation

/// How a fetch loads what is missing.
public struct LoadOptions: Sendable, Hashable {
    /// How eagerly a value is loaded anew before it expires; `nil`: only afterwards.
    ///
    /// Each fetch decides by chance, the more likely the closer the deadline is and the longer the last load took, so
    /// that one fetch of many loads ahead and the others never wait. 1 is the usual choice; more than 1 loads earlier,
    /// less later. The fetch itself returns the value that is there. Entries that were saved, not loaded, are not
    /// loaded ahead.
    ///
    /// Source: Vattani, Chierichetti, Lowenstein: Optimal probabilistic cache stampede prevention, VLDB 2015.
    public var earlyRefresh: Double?
    /// For how long the error of a producer is thrown again without running one; `nil`: not at all.
    ///
    /// Saving or removing the key ends that.
    public var failureLifetime: Duration?
    /// Whether an entry that holds another type counts as missing and is loaded anew; `true` by default. Otherwise the
    /// fetch throws `.typeMismatch`.
    ///
    /// Renaming a type, or moving it to another module, makes all of its entries such ones.
    public var replacesOtherTypes: Bool

    /// - Parameters:
    ///   - earlyRefresh: see ``earlyRefresh``.
    ///   - failureLifetime: see ``failureLifetime``.
    ///   - replacesOtherTypes: see ``replacesOtherTypes``.
    public init(
        earlyRefresh: Double? = nil,
        failureLifetime: Duration? = nil,
        replacesOtherTypes: Bool = true
    ) {
        self.earlyRefresh = earlyRefresh
        self.failureLifetime = failureLifetime
        self.replacesOtherTypes = replacesOtherTypes
    }

    /// Whether to load anew now what stays fresh until `deadline`.
    ///
    /// - Parameter chance: greater than 0, up to 1, drawn anew for each decision.
    func refreshes(loadTime: TimeInterval, deadline: TimeInterval, now: TimeInterval, chance: Double) -> Bool {
        guard let earlyRefresh, loadTime > 0, deadline != .infinity else { return false }
        return now - loadTime * earlyRefresh * log(chance) >= deadline
    }

    /// Whether an entry that cannot be decoded counts as missing.
    func loadsAnew(_ error: CacheError) -> Bool {
        error.code == .decodingFailed || (error.code == .typeMismatch && replacesOtherTypes)
    }
}
