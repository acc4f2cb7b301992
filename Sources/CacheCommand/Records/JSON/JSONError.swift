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

        /// The fault in words, to stand behind a colon.
        var phrase: String {
            switch self {
            case .unexpectedEnd: "the JSON ends too early"
            case .unexpectedByte: "a JSON value was expected here"
            case .expectedName: "a name in double quotes was expected here"
            case .expectedColon: "a colon was expected here"
            case .expectedCommaOrEnd: "a comma or a closing bracket was expected here"
            case .textAfterValue: "text follows the JSON value"
            case .badLiteral: "this is neither true, false nor null"
            case .badNumber: "this is not a JSON number"
            case .numberOutOfRange: "this number is too large"
            case .integerOutOfRange:
                "this whole number takes more than 64 bits; write it as a string, or as a decimal such as 1.5e20"
            case .controlCharacter: "a control character in a string must be escaped"
            case .badEscape: "this escape sequence is not JSON"
            case .loneSurrogate: "half of a surrogate pair is missing"
            case .invalidUTF8: "this string is not UTF-8"
            case .duplicateName: "this name occurs twice in the object"
            case .tooDeep: "arrays and objects are nested too deeply"
            case .tooManyValues: "the record has too many values"
            }
        }
    }

    let code: Code
    /// The index of the byte at which it showed.
    let offset: Int
}
