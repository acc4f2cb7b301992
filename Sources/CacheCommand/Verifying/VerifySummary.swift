/// The result of reading every entry of a cache.
struct VerifySummary {
    /// Entries that are whole and have not expired.
    var sound = 0
    /// Entries that are whole and have expired.
    var expired = 0
    /// The faults of all other entries.
    var findings: [EntryFinding] = []
    /// How many damaged entries were removed; `nil` if that was not asked for.
    var removed: Int?
    /// The signal that ended it early, if one did.
    var signal: Int32?

    var damaged: Int { findings.count { $0.isDamaged } }
    /// Entries that may be whole: of a newer version, say, or on a device that fails.
    var unreadable: Int { findings.count - damaged }

    /// For people, in one line.
    var prose: String {
        let counts = "\(CountText(sound)) sound, \(CountText(expired)) expired, \(CountText(damaged)) damaged"
        let others = unreadable > 0 ? ", \(CountText(unreadable)) not readable" : ""
        let removal = removed.map { ", \(CountText($0)) removed" } ?? ""
        return "\(counts)\(others)\(removal)\(signal == nil ? "" : ", interrupted")"
    }

    /// For programs.
    var json: RecordValue {
        .object(
            Record(fields: [
                RecordField(name: "sound", value: .int(Int64(sound))),
                RecordField(name: "expired", value: .int(Int64(expired))),
                RecordField(name: "damaged", value: .int(Int64(damaged))),
                RecordField(name: "unreadable", value: .int(Int64(unreadable))),
                RecordField(name: "removed", value: .int(Int64(removed ?? 0))),
                RecordField(name: "interrupted", value: .bool(signal != nil)),
                RecordField(name: "findings", value: .array(findings.map(\.json))),
            ])
        )
    }
}
