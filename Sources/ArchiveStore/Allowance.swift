/// An amount that each call adds to and that may be saved up, so that a burst costs no more than the calls before it have
/// saved.
struct Allowance: Sendable {
    private(set) var rest: Int
    private let most: Int

    /// - Parameter most: how much can be saved up; it begins with as much.
    init(most: Int) {
        self.most = most
        rest = most
    }

    mutating func add(_ amount: Int) { rest = min(most, rest + amount) }

    /// Takes an amount, also one that is not there.
    mutating func spend(_ amount: Int) { rest = max(0, rest - amount) }
}

/// How many entries that are next to go may be spared because they are in use in memory: some each time that room is made,
/// and those saved up before. So a run of entries in use is spared as a whole, and a cache in which all are in use does not ask
/// about all of them for each save.
struct SparingAllowance: Sendable {
    private var allowance = Allowance(most: 1 << 10)

    /// Notes that room is made.
    mutating func noteCall() { allowance.add(8) }

    /// Whether one more may be spared.
    mutating func take() -> Bool {
        defer { allowance.spend(1) }
        return allowance.rest > 0
    }
}
