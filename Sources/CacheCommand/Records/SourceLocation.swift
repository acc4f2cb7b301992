/// Where records come from.
package enum SourceLocation: Sendable, Equatable {
    case standardInput
    case file(String)

    package init(_ argument: String) {
        self = argument == "-" ? .standardInput : .file(argument)
    }

    /// As it stands in messages.
    var name: String {
        switch self {
        case .standardInput: "standard input"
        case .file(let path): path
        }
    }
}
