/// How a CSV record breaks the rules of RFC 4180.
enum CSVError: Error, Sendable, Equatable {
    case unclosedQuote
    case textAfterQuote
    case strayQuote
    case strayCarriageReturn
    case tooManyFields

    var phrase: String {
        switch self {
        case .unclosedQuote: "the quote that opens this field is never closed"
        case .textAfterQuote: "text follows the closing quote; double a quote inside a quoted field"
        case .strayQuote: "a quote stands inside an unquoted field; quote the field and double the quote"
        case .strayCarriageReturn: "a carriage return stands outside quotes"
        case .tooManyFields: "the record has too many fields"
        }
    }
}
