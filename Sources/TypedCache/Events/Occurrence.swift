/// Everything that a cache counts and tells of. Closed, unlike ``CacheEvent/Kind``, so that none is forgotten.
enum Occurrence: Hashable, CaseIterable {
    case saved
    case memoryHit
    case diskHit
    case servedStale
    case missed
    case joined
    case loaded
    case revalidated
    case loadFailed
    case expired
    case memoryEvicted
    case diskEvicted
    case removed
    case replaced
    case removedAll
    case corrupted
    case invalidated
    case verified
    case failed

    /// Whether it is told with an error.
    var isFailure: Bool { self == .failed || self == .loadFailed || self == .corrupted }

    /// The event as users see it.
    var `public`: (kind: CacheEvent.Kind, tier: CacheEvent.Tier?, reason: CacheEvent.RemovalReason?) {
        switch self {
        case .saved: (.saved, nil, nil)
        case .memoryHit: (.hit, .memory, nil)
        case .diskHit: (.hit, .disk, nil)
        case .servedStale: (.servedStale, nil, nil)
        case .missed: (.missed, nil, nil)
        case .joined: (.joined, nil, nil)
        case .loaded: (.loaded, nil, nil)
        case .revalidated: (.revalidated, nil, nil)
        case .loadFailed: (.loadFailed, nil, nil)
        case .expired: (.removed, .disk, .expired)
        case .memoryEvicted: (.removed, .memory, .evicted)
        case .diskEvicted: (.removed, .disk, .evicted)
        case .removed: (.removed, .disk, .removed)
        case .replaced: (.removed, .memory, .replaced)
        case .removedAll: (.removedAll, nil, nil)
        case .corrupted: (.removed, .disk, .corrupted)
        case .invalidated: (.invalidated, .memory, nil)
        case .verified: (.verified, .disk, nil)
        case .failed: (.failed, nil, nil)
        }
    }
}
