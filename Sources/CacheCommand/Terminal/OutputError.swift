/// Why output could not be written.
package enum OutputError: Error, Sendable, Equatable {
    /// Whoever read it has gone: nothing to complain about.
    case closed
    case failed(errno: Int32)
}
