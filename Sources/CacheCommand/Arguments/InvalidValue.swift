/// The part of an argument's value that cannot be taken, and what would be.
struct InvalidValue: Error, Sendable, Equatable {
    let part: String
    let expected: String

    init(_ part: String, expected: String) {
        self.part = part
        self.expected = expected
    }
}
