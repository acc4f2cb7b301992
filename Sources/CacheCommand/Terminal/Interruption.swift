/// Tells whether the command has been asked to stop.
package protocol Interruption: AnyObject, Sendable {
    /// The signal that asked, or `nil`.
    var signal: Int32? { get }

    /// A file descriptor that becomes readable with the signal, for `poll`; `nil` if there is none.
    var descriptor: Int32? { get }
}
