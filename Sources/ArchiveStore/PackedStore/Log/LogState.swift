/// Everything of a log that its writer changes: guarded by the writer's lock of ``LogLock``.
struct LogState: Sendable {
    var log: SegmentLog
    var follower: LogFollower
    var reclaimer: Reclaimer
    var compactor: SpaceCompactor
    var reserve: SpaceReserve
}
