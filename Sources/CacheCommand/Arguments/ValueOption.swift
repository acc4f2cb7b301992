/// An option with a value: its declaration and what the value's text means.
struct ValueOption<Value: Sendable>: Sendable {
    let declaration: OptionDeclaration
    let parse: @Sendable (String) throws(InvalidValue) -> Value
}

extension ValueOption where Value == String {
    /// An option whose text is its value; an empty one is none.
    static func text(_ declaration: OptionDeclaration, expected: String) -> Self {
        Self(declaration: declaration) { text throws(InvalidValue) in
            guard !text.isEmpty else { throw InvalidValue(text, expected: expected) }
            return text
        }
    }
}

extension ValueOption where Value: CaseIterable & RawRepresentable<String> {
    /// An option whose value is one of a few words.
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
