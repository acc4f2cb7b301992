/// Where data goes.
package protocol TextOutput: AnyObject {
    /// Takes `text` in; it may be held back until ``flush()``, but never cut within one call.
    func write(_ text: String) throws(OutputError)

    /// Writes the text that was held back.
    func flush() throws(OutputError)
}
