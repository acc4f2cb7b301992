import Dispatch

/// Has expired entries removed from time to time, as long as it is there.
///
/// Unchecked: the timer is set once, and touched by the initializer and the deinitializer only.
final class Sweeper: @unchecked Sendable {
    private static let interval = DispatchTimeInterval.seconds(60)
    private let timer: any DispatchSourceTimer

    init(_ sweep: @escaping @Sendable () -> Void) {
        timer = DispatchSource.makeTimerSource(queue: .global(qos: .utility))
        timer.schedule(deadline: .now() + Self.interval, repeating: Self.interval, leeway: .seconds(10))
        timer.setEventHandler(handler: sweep)
        timer.activate()
    }

    deinit { timer.cancel() }
}
