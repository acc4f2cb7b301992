/// Where messages and progress go.
package protocol ErrorOutput: AnyObject {
    /// How many columns the terminal has; `nil` if it is none.
    var columns: Int? { get }

    /// Shows `text` at once. Failing is silent, since a message about a lost message would not help.
    func write(_ text: String)
}

extension ErrorOutput {
    /// Shows one line that begins with the command's name.
    func report(_ message: some CustomStringConvertible) {
        write("typed-cache: \(message)\n")
    }
}
