/// Why a text is not JSON, and where.
struct JSONError: Error, Sendable, Equatable {
    enum Code: Sendable, Equatable, CaseIterable {
        case unexpectedEnd
        case unexpectedByte
        case expectedName
        case expectedColon
        case expectedCommaOrEnd
        case textAfterValue
        case badLiteral
        case badNumber
        case numberOutOfRange
        case integerOutOfRange
        case controlCharacter
        case badEscape
        case loneSurrogate
        case invalidUTF8
        case duplicateName
        case tooDeep
        case tooManyValues
    }

    let code: Code
    /// The index of the byte at which it showed.
    let offset: Int
}
