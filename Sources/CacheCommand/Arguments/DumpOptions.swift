/// What `dump` is to look into.
package struct DumpOptions: Sendable, Equatable {
    package let path: String
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) {
        path = arguments.operands[0]
        writesJSON = arguments.has(Options.json)
    }
}
