import Foundation

/// A span of time, and the name of the list of entries that are due in it.
///
/// Hierarchical timing wheels (Varghese and Lauck, SOSP 1987): spans are 16 seconds wide, or 32 times as wide on each
/// level above, and an entry is listed on the first level with spans of at least a 32nd of the time to its deadline.
/// When a wide span begins, its entries are listed again, in narrower ones.
///
///     <level>-<number>    the number counts spans since 2001-01-01 00:00:00 UTC
struct WheelBucket: Hashable {
    private static let levels = 5
    /// Deadlines further away from 2001 than some 30 million years are taken for that.
    private static let bound = 1e15

    let level: Int
    let number: Int

    /// The list at `now` of an entry that is due at `deadline`; both in seconds since 2001-01-01 UTC.
    init(deadline: Double, now: Double) {
        let distance = deadline - now
        level = (0..<Self.levels).first { distance < Self.width($0 + 1) } ?? Self.levels - 1
        number = Int((min(max(deadline, -Self.bound), Self.bound) / Self.width(level)).rounded(.down))
    }

    init?(_ name: String) {
        guard let dash = name.firstIndex(of: "-"), let level = Int(name[..<dash]),
            (0..<Self.levels).contains(level),
            let number = Int(name[name.index(after: dash)...])
        else { return nil }
        self.level = level
        self.number = number
        guard self.name == name else { return nil }
    }

    var name: String { "\(level)-\(number)" }

    /// The level in the highest byte, and the number.
    var packed: UInt64 { UInt64(level) << 56 | UInt64(truncatingIfNeeded: number) & Self.numberMask }

    /// `nil` if ``packed`` gives no such number.
    init?(packed: UInt64) {
        level = Int(packed >> 56)
        guard (0..<Self.levels).contains(level) else { return nil }
        // With the sign of its highest bit.
        number = Int(Int64(bitPattern: packed << 8) >> 8)
    }

    private static let numberMask: UInt64 = 0x00FF_FFFF_FFFF_FFFF

    /// When the span begins, in seconds since 2001-01-01 UTC.
    var start: Double { Double(number) * Self.width(level) }

    private static func width(_ level: Int) -> Double { 16 * Double(1 << (5 * level)) }
}
