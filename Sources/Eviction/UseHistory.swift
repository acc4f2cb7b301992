/// How often the policy has seen that a key was used, and over how long a time.
///
/// Its estimate of further uses follows a model of customers who buy again until they leave for good (BG/NBD: Fader,
/// Hardie, Lee: "Counting your customers" the easy way, Marketing Science 2005): many uses in a short time promise more
/// of them; a pause that is long for this key says that it is not asked for any longer, the more so the oftener it was.
struct UseHistory {
    /// When this many are known, half of them and half of the time are forgotten.
    private static var mostUses: Int { 32 }
    private static var mostSpan: UInt32 { 1 << spanBits - 1 }
    /// A new key's rate is taken for that of one use in this many insertions for each entry in memory.
    private static var priorSpan: Double { 2 }
    /// A key that was used once, and has just been, comes back with a chance of one in so many and one.
    private static var leavingWeight: Double { 3 }

    /// At most 31.
    private(set) var uses: UInt8 = 0
    /// The insertions from the first time that it came in until it was last known to be used, 26 bits of them.
    private(set) var span: UInt32 = 0

    init() {}

    mutating func add(uses added: UInt8, after pause: UInt32) {
        var (uses, span) = (Int(uses) + Int(added), UInt64(span) + UInt64(pause))
        if uses >= Self.mostUses { (uses, span) = (uses / 2, span / 2) }
        self.uses = UInt8(uses)
        self.span = UInt32(min(span, UInt64(Self.mostSpan)))
    }

    func adding(uses: UInt8, after pause: UInt32) -> UseHistory {
        var history = self
        history.add(uses: uses, after: pause)
        return history
    }

    /// The uses to expect in each insertion; zero if none are known.
    ///
    /// A pause only counts where it is longer than the mean one, so that keys of a loop, which come back when they are
    /// due, do not lose by being late in it.
    ///
    /// - Parameters:
    ///   - idle: the insertions since it was last known to be used.
    ///   - count: the entries in memory.
    func expectedUses(idle: UInt32, count: Int) -> Double {
        guard uses > 0 else { return 0 }
        let known = Double(uses)
        let active = Self.priorSpan * Double(count) + Double(span)
        let all = active + max(0, Double(idle) - Double(span) / known)
        let stays = known / (known + Self.leavingWeight * Self.power(all / active, uses + 1))
        return (known + 1) / all * stays
    }

    private static func power(_ base: Double, _ exponent: UInt8) -> Double {
        var (power, factor, rest) = (1.0, base, exponent)
        while rest > 0 {
            if rest & 1 != 0 { power *= factor }
            factor *= factor
            rest >>= 1
        }
        return power
    }
}

extension UseHistory {
    private static var spanBits: UInt32 { 26 }

    /// Both numbers in 31 bits.
    var packed: UInt32 { UInt32(uses) << Self.spanBits | span }

    init(packed: UInt32) {
        uses = UInt8(packed >> Self.spanBits)
        span = packed & Self.mostSpan
    }
}
