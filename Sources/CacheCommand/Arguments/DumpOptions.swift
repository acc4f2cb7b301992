/// The archive that `dump` shows, and the output format.
package struct DumpOptions: Sendable, Equatable {
    package enum Source: Sendable, Equatable {
        case file(String)
        case entry(key: String, CacheSelection)
    }

    package let source: Source
    package let writesJSON: Bool

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
        let operand = arguments.operands[0]
        let selection = [Options.entryCache, Options.root, Options.app].map(\.declaration)
        let isEntry = selection.contains(where: arguments.has)
        source = isEntry ? .entry(key: operand, try CacheSelection(arguments)) : .file(operand)
        writesJSON = arguments.has(Options.json)
    }
}
