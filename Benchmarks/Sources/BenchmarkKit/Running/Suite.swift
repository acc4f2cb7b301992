/// Benchmarks that belong together and run under one name.
package protocol Suite {
    /// One word, as on the command line.
    static var name: String { get }
    /// One line for `--list`.
    static var summary: String { get }

    init()

    /// Measures everything, and leaves nothing behind outside the context's folders.
    func run(_ context: Context) throws
}
