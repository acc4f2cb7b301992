/// Where messages and progress go.
package protocol ErrorOutput: AnyObject {
    /// How many columns the terminal has; `nil` if it is none.
    var columns: Int? { get }

    /// Shows `text` at once. Messages about messages help nobody, so failing is silent.
    func write(_ text: String)
}

extension ErrorOutput {
    /// Shows one line that says who speaks.
    func report(_ message: some CustomStringConvertible) {
        write("typed-cache: \(message)\n")
    }
}
