import CMeasuring

/// Takes a result, so that the optimizer cannot leave out the work that made it.
///
/// It goes to a function in C, into which the optimizer cannot see. Of a Swift function the optimizer finds out that
/// it does nothing, even if it is never inlined, and leaves out the call and the work that made its argument.
@inlinable
public func blackHole<T>(_ value: T) {
    withUnsafePointer(to: value) { black_hole_take($0) }
}
