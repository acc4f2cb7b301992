/// The counts of warming a cache.
struct WarmSummary: Sendable, Equatable {
    /// Records looked at: the saved, the invalid, and those that were there already.
    var read = 0
    var saved = 0
    /// Records that were left alone, for their keys had entries.
    var present = 0
    var invalid = 0
    var elapsed = Duration.zero
    /// The signal that ended it early, if one did.
    var signal: Int32?

    /// Records read per second.
    var rate: Double {
        elapsed > .zero ? Double(read) / elapsed.inSeconds : 0
    }

    /// For people, in one line.
    func prose(isDryRun: Bool) -> String {
        let counts =
            "\(CountText(read, "record", "records")) read, \(CountText(saved)) \(isDryRun ? "valid" : "saved"), "
            + (present > 0 ? "\(CountText(present)) there already, " : "") + "\(CountText(invalid)) invalid"
        let time = "\(DecimalText(elapsed.inSeconds, fractionDigits: 2)) s (\(CountText(Int(rate)))/s)"
        return "\(counts), in \(time)\(signal == nil ? "" : ", interrupted")"
    }

    /// For programs.
    var json: RecordValue {
        .object(
            Record(fields: [
                RecordField(name: "read", value: .int(Int64(read))),
                RecordField(name: "saved", value: .int(Int64(saved))),
                RecordField(name: "present", value: .int(Int64(present))),
                RecordField(name: "invalid", value: .int(Int64(invalid))),
                RecordField(name: "seconds", value: .double(elapsed.inSeconds)),
                RecordField(name: "recordsPerSecond", value: .double(rate.rounded())),
                RecordField(name: "interrupted", value: .bool(signal != nil)),
            ])
        )
    }
}
