import TypedCache

/// What a run of the torture is to do.
struct TortureOptions {
    enum Part: String, CaseIterable {
        case kills, processes, following, behind, limits, counters, disk

        /// Its part of the time, beside the others'.
        var weight: Double {
            switch self {
            case .kills: 6
            case .processes, .limits: 5
            case .following, .behind: 3
            case .counters: 2
            case .disk: 1
            }
        }
    }

    /// All if empty.
    var parts: [Part] = []
    /// Both, one after the other, if `nil`.
    var layout: DiskSettings.Layout?
    var seconds = 300.0
    var kills = Int.max
    var processCount = 8
    /// A new one for each run if `nil`.
    var seed: UInt64?
    var scratch: String?
    var printsJSON = false
}
