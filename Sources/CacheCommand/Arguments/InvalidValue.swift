/// The part of an argument's value that cannot be taken, and a description of values that can.
struct InvalidValue: Error, Sendable, Equatable {
    let part: String
    let expected: String

    init(_ part: String, expected: String) {
        self.part = part
        self.expected = expected
    }
}
