import TypedCache

/// The options of a torture run.
struct TortureOptions {
    enum Part: String, CaseIterable {
        case kills, processes, following, behind, limits, counters, disk, merges, erasures, shared

        /// Its part of the time, beside the others'.
        var weight: Double {
            switch self {
            case .kills: 6
            case .processes, .limits, .shared: 5
            case .following, .behind: 3
            case .counters: 2
            case .merges: 3
            case .disk, .erasures: 1
            }
        }

        /// Whether its caches hold models, and so are packed.
        var isOfModels: Bool { self == .merges || self == .erasures }

        /// Whether it works on a server, and not on this machine's disk.
        var isOfServers: Bool { self == .shared }
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
