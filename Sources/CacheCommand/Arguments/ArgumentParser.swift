/// Sorts the arguments of one subcommand into the options and operands that it declares, and parses their values.
struct ArgumentParser {
    private let name: String
    private let declared: DeclaredArguments

    init(_ subcommand: any Subcommand) {
        name = type(of: subcommand).name
        declared = DeclaredArguments(of: subcommand)
    }

    /// Parses the arguments that follow the subcommand's name.
    ///
    /// - Returns: whether they ask for help; then the rest of the command line need not be right.
    func asksForHelp(afterParsing arguments: some Sequence<String>) throws(ArgumentError) -> Bool {
        var rest = Array(arguments)[...]
        var operands: [String] = []
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands.append(contentsOf: rest)
                break
            } else if argument.hasPrefix("--") {
                try takeOption(argument.dropFirst(2), followedBy: &rest)
            } else if argument.hasPrefix("-"), argument != "-" {
                try takeLetter(argument.dropFirst(), followedBy: &rest)
            } else {
                operands.append(argument)
            }
            if declared.help.text != nil { return true }
        }
        try check(operands)
        declared.operand?.texts = operands
        try parseValues()
        try checkVariable()
        return false
    }

    /// Refuses to work on a cache of this machine where the environment names a server, and the user may mean a cache
    /// there.
    private func checkVariable() throws(ArgumentError) {
        let namesCache = option("cache")?.text != nil || declared.operand?.declaration.placeholder == "CACHE"
        guard namesCache, option("root") != nil, option("shared") == nil, PlaceOptions.urlOfVariable != nil else {
            return
        }
        if option("root")?.text == nil, option("app")?.text == nil {
            throw failure(.localOnly(PlaceOptions.variable))
        }
    }

    private func option(_ name: String) -> (any DeclaredOption)? {
        declared.options.first { $0.declaration.name == name }
    }

    private func failure(_ fact: ArgumentError.Fact) -> ArgumentError {
        ArgumentError(fact: fact, subcommand: name)
    }

    private func takeOption(
        _ argument: Substring,
        followedBy rest: inout ArraySlice<String>
    ) throws(ArgumentError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        guard let option = declared.allOptions.first(where: { $0.declaration.name == name }) else {
            throw unknownOption("--\(name)", named: name)
        }
        let spelling = option.declaration.spelling
        guard let placeholder = option.declaration.placeholder else {
            guard parts.count == 1 else { throw failure(.unexpectedValue(option: spelling)) }
            return try set(option, "")
        }
        if parts.count == 2 { return try set(option, String(parts[1])) }
        // A value that begins with two dashes is more likely the next option; `--name=--value` says otherwise.
        guard let value = rest.first, !value.hasPrefix("--") else {
            throw failure(.missingValue(option: spelling, placeholder: placeholder))
        }
        rest.removeFirst()
        try set(option, value)
    }

    private func takeLetter(
        _ letters: Substring,
        followedBy rest: inout ArraySlice<String>
    ) throws(ArgumentError) {
        let isMeant = { (letter: Character) in String(letter) == letters }
        guard let option = declared.allOptions.first(where: { $0.declaration.letter.map(isMeant) ?? false }) else {
            throw unknownOption("-\(letters)", named: String(letters))
        }
        guard let placeholder = option.declaration.placeholder else { return try set(option, "") }
        // The value may be -, for standard input or output.
        guard let value = rest.first, value == "-" || !value.hasPrefix("-") else {
            throw failure(.missingValue(option: "-\(letters)", placeholder: placeholder))
        }
        rest.removeFirst()
        try set(option, value)
    }

    private func unknownOption(_ argument: String, named name: String) -> ArgumentError {
        if name == "shared" { return failure(.localOnly("--shared")) }
        let nearest = Suggestion.nearest(to: name, among: declared.allOptions.map(\.declaration.name))
        return failure(.unknownOption(argument, suggestion: nearest.map { "--\($0)" }))
    }

    private func set(_ option: any DeclaredOption, _ text: String) throws(ArgumentError) {
        guard option.text == nil else { throw failure(.repeatedOption(option.declaration.spelling)) }
        option.text = text
    }

    private func check(_ operands: [String]) throws(ArgumentError) {
        let operand = declared.operand?.declaration
        let most = operand?.most ?? 0
        if operands.count > most {
            throw failure(.unexpectedOperand(operands[most], suggestion: suggestion(for: operands[most])))
        }
        if let operand, operands.count < operand.least {
            throw failure(.missingOperand(operand.placeholder))
        }
        for option in declared.options where option.declaration.isRequired && option.text == nil {
            throw failure(.missingOption(option.declaration.form))
        }
        for group in declared.exclusive {
            let excluding = group.filter { $0.text != nil }.map(\.declaration.spelling)
            if excluding.count > 1 { throw failure(.conflictingOptions(excluding[0], excluding[1])) }
        }
    }

    /// The option for an operand too many, which may be the name of the cache.
    private func suggestion(for operand: String) -> String? {
        guard let option = option("cache"), option.text == nil, operand.count <= 80, !operand.contains("/") else {
            return nil
        }
        return "\(option.declaration.spelling) \(ShellText(operand))"
    }

    private func parseValues() throws(ArgumentError) {
        for option in declared.options {
            do throws(InvalidValue) {
                try option.parse()
            } catch {
                throw failure(.badValue(option: option.declaration.spelling, error))
            }
        }
    }
}
