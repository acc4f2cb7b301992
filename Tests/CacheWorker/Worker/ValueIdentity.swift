/// Which save made a value: no two saves share one. As text, `3.17`.
struct ValueIdentity: Hashable, CustomStringConvertible {
    let writer: Int
    /// The number of the operation among those of its writer.
    let number: Int

    var description: String { "\(writer).\(number)" }

    init(writer: Int, number: Int) {
        self.writer = writer
        self.number = number
    }

    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false).map { Int($0) }
        guard parts.count == 2, let writer = parts[0], let number = parts[1] else { return nil }
        self.init(writer: writer, number: number)
    }
}
