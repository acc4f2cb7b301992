/// How far a long piece of work has come.
struct Progress: Sendable, Equatable {
    var records = 0
    /// The plural noun for the records.
    var noun = "records"
    var bytes = 0
    /// How many bytes there are in all, or `nil` if that is not known.
    var size: Int?
    var elapsed = Duration.zero

    /// Between 0 and 1; `nil` if it is not known.
    var fraction: Double? {
        guard let size, size > 0 else { return nil }
        return min(1, Double(bytes) / Double(size))
    }

    /// Records per second so far; `nil` as long as that says nothing.
    var rate: Double? {
        elapsed.inSeconds > 0.05 ? Double(records) / elapsed.inSeconds : nil
    }

    /// How long the rest takes if it goes on like this; `nil` as long as that says nothing.
    var remaining: Duration? {
        guard let fraction, fraction > 0.001, elapsed.inSeconds > 0.5 else { return nil }
        return .seconds(elapsed.inSeconds * (1 - fraction) / fraction)
    }
}
