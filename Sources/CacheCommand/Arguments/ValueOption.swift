/// An option with a value: its declaration, and the parser of the value's text.
struct ValueOption<Value: Sendable>: Sendable {
    let declaration: OptionDeclaration
    let parse: @Sendable (String) throws(InvalidValue) -> Value
}

extension ValueOption where Value == String {
    /// An option that takes any text as its value, except an empty one.
    static func text(_ declaration: OptionDeclaration, expected: String) -> Self {
        Self(declaration: declaration) { text throws(InvalidValue) in
            guard !text.isEmpty else { throw InvalidValue(text, expected: expected) }
            return text
        }
    }
}

extension ValueOption where Value: CaseIterable & RawRepresentable<String> {
    /// An option that takes one of a few words as its value.
    static func word(_ declaration: OptionDeclaration) -> Self {
        Self(declaration: declaration) { text throws(InvalidValue) in
            guard let value = Value(rawValue: text) else {
                let words = Value.allCases.map(\.rawValue).joined(separator: ", ")
                throw InvalidValue(text, expected: "one of \(words)")
            }
            return value
        }
    }
}
