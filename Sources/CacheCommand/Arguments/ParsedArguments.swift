/// The arguments of one subcommand, sorted into options and operands by its declaration; values still as text.
struct ParsedArguments: Sendable, Equatable {
    let subcommand: Subcommand
    private(set) var operands: [String] = []
    /// By the option's name; those without a value have an empty one.
    private var options: [String: String] = [:]

    /// Sorts the arguments that follow the subcommand's name.
    init(_ subcommand: Subcommand, _ arguments: some Sequence<String>) throws(ArgumentError) {
        self.subcommand = subcommand
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            if argument == "--" {
                operands.append(contentsOf: rest)
                break
            } else if argument.hasPrefix("--") {
                try takeOption(argument.dropFirst(2), followedBy: &rest)
            } else if argument.hasPrefix("-"), argument != "-" {
                try takeLetter(argument.dropFirst())
            } else {
                operands.append(argument)
            }
            // With `--help`, the rest of the command line need not be right.
            if has(Options.help) { return }
        }
        try check()
    }

    /// Whether `option` is given.
    func has(_ option: OptionDeclaration) -> Bool {
        assertDeclared(option)
        return options[option.name] != nil
    }

    /// The value of `option`, or `nil` if it is not given.
    func value<Value>(of option: ValueOption<Value>) throws(ArgumentError) -> Value? {
        assertDeclared(option.declaration)
        guard let text = options[option.declaration.name] else { return nil }
        do throws(InvalidValue) {
            return try option.parse(text)
        } catch {
            throw failure(.badValue(option: option.declaration.spelling, error))
        }
    }

    /// The value of `option`, which its declaration requires.
    func required<Value>(_ option: ValueOption<Value>) throws(ArgumentError) -> Value {
        guard let value = try value(of: option) else {
            throw failure(.missingOption(option.declaration.form))
        }
        return value
    }

    func failure(_ fact: ArgumentError.Fact) -> ArgumentError {
        ArgumentError(fact: fact, subcommand: subcommand)
    }

    private mutating func takeOption(
        _ argument: Substring,
        followedBy rest: inout ArraySlice<String>
    ) throws(ArgumentError) {
        let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let name = String(parts[0])
        let declared = subcommand.declaration.allOptions
        guard let option = declared.first(where: { $0.name == name }) else {
            let nearest = Suggestion.nearest(to: name, among: declared.map(\.name))
            throw failure(.unknownOption("--\(name)", suggestion: nearest.map { "--\($0)" }))
        }
        guard let placeholder = option.placeholder else {
            guard parts.count == 1 else { throw failure(.unexpectedValue(option: option.spelling)) }
            return try set(option, "")
        }
        if parts.count == 2 { return try set(option, String(parts[1])) }
        // A value that begins with two dashes is more likely the next option; `--name=--value` says otherwise.
        guard let value = rest.first, !value.hasPrefix("--") else {
            throw failure(.missingValue(option: option.spelling, placeholder: placeholder))
        }
        rest.removeFirst()
        try set(option, value)
    }

    private mutating func takeLetter(_ letters: Substring) throws(ArgumentError) {
        let declared = subcommand.declaration.allOptions
        guard let option = declared.first(where: { $0.letter.map { String($0) == letters } ?? false }) else {
            let nearest = Suggestion.nearest(to: String(letters), among: declared.map(\.name))
            throw failure(.unknownOption("-\(letters)", suggestion: nearest.map { "--\($0)" }))
        }
        try set(option, "")
    }

    private mutating func set(_ option: OptionDeclaration, _ text: String) throws(ArgumentError) {
        guard options.updateValue(text, forKey: option.name) == nil else {
            throw failure(.repeatedOption(option.spelling))
        }
    }

    private func check() throws(ArgumentError) {
        let declaration = subcommand.declaration
        try checkOperands(declaration.operand)
        for option in declaration.options where option.isRequired && options[option.name] == nil {
            throw failure(.missingOption(option.form))
        }
        let excluding = declaration.exclusive.filter { options[$0.name] != nil }
        if excluding.count > 1 {
            throw failure(.conflictingOptions(excluding[0].spelling, excluding[1].spelling))
        }
    }

    private func checkOperands(_ operand: OperandDeclaration?) throws(ArgumentError) {
        let most =
            switch operand?.arity {
            case nil: 0
            case .one, .optional: 1
            case .many: Int.max
            }
        if operands.count > most { throw failure(.unexpectedOperand(operands[most])) }
        if let operand, operand.arity != .optional, operands.isEmpty {
            throw failure(.missingOperand(operand.placeholder))
        }
    }

    private func assertDeclared(_ option: OptionDeclaration) {
        assert(
            subcommand.declaration.allOptions.contains { $0.name == option.name },
            "\(subcommand) reads \(option.spelling) and does not declare it"
        )
    }
}
