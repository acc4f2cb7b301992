/// Why output could not be written.
package enum OutputError: Error, Sendable, Equatable {
    /// The reader has closed the output: no fault to report.
    case closed
    case failed(errno: Int32)
}
