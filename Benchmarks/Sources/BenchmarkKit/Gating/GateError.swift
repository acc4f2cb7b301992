/// A file of bounds that cannot be read as such.
package struct GateError: Error, Equatable, CustomStringConvertible {
    /// From 1.
    let line: Int
    let message: String

    package var description: String { "Line \(line) of the gate: \(message)" }
}
