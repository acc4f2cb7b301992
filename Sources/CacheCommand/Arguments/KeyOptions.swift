/// Which entries `get` or `remove` is about.
package struct KeyOptions: Sendable, Equatable {
    /// Where the keys come from.
    package enum Keys: Sendable, Equatable {
        case given([String])
        /// Standard input: one key per line, escaped as `list` prints them; or raw, with a NUL behind each.
        case standardInput(isRaw: Bool)
    }

    package let keys: Keys
    package let cache: CacheSelection
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        let isRaw = arguments.has(Options.nullKeys)
        if arguments.operands.contains("-") {
            guard arguments.operands.count == 1 else { throw arguments.failure(.unexpectedOperand("-")) }
            keys = .standardInput(isRaw: isRaw)
        } else {
            // Arguments hold no NUL.
            guard !isRaw else { throw arguments.failure(.missingOperand("-")) }
            keys = .given(arguments.operands)
        }
        cache = try CacheSelection(arguments)
        writesJSON = arguments.has(Options.json)
    }
}
