/// A subcommand: its help, its operands and options, and its work.
///
/// Operands and options are properties with the wrappers ``Operand``, ``Option`` and ``Flag``, or with ``OptionGroup`` as
/// their type; parser and help find them by reflection, in the order in which they are declared.
protocol Subcommand {
    /// As it is written on a command line.
    static var name: String { get }
    /// One sentence without its period, for the list of subcommands.
    static var summary: String { get }
    /// More about it, if one sentence is not enough.
    static var discussion: String? { get }
    static var examples: [CommandExample] { get }
    /// How the process ends where the work cannot be done.
    static var failureStatus: ExitStatus { get }
    /// The meanings of exit codes, for the manual.
    static var exitMeanings: KeyValuePairs<Int, String> { get }
    /// Whether it is for programs alone, and not listed anywhere.
    static var isHidden: Bool { get }

    init()

    /// Checks rules between several arguments; the values of all of them are known.
    func validate() throws(ArgumentError)

    func run(in environment: CommandEnvironment) throws -> ExitStatus
}

extension Subcommand {
    static var discussion: String? { nil }
    static var isHidden: Bool { false }
    static var failureStatus: ExitStatus { .failure }
    static var exitMeanings: KeyValuePairs<Int, String> { ExitStatus.meanings }

    func validate() throws(ArgumentError) {}

    static func failure(_ fact: ArgumentError.Fact) -> ArgumentError {
        ArgumentError(fact: fact, subcommand: name)
    }
}

/// A command line that works, for help; the tests parse every one.
struct CommandExample: Sendable, Equatable {
    /// The arguments after the command's name, one string each.
    let arguments: [String]
    let meaning: String

    /// The arguments as they are typed into a shell.
    var text: String { arguments.map { ShellText($0).description }.joined(separator: " ") }
}

/// Options that several subcommands declare together.
protocol OptionGroup {
    /// Whether at most one of them may be given.
    static var isExclusive: Bool { get }
}

extension OptionGroup {
    static var isExclusive: Bool { false }
}

/// All that a subcommand declares. The parser takes nothing else, and help shows nothing else.
struct DeclaredArguments {
    private(set) var operand: (any DeclaredOperand)?
    private(set) var options: [any DeclaredOption] = []
    /// Groups of options of which at most one may be given.
    private(set) var exclusive: [[any DeclaredOption]] = []
    /// The option that every subcommand has.
    let help = Flag(Command.helpOption)

    init(of subcommand: any Subcommand) { collect(from: subcommand) }

    private mutating func collect(from holder: Any) {
        for (_, property) in Mirror(reflecting: holder).children {
            switch property {
            case let operand as any DeclaredOperand: self.operand = operand
            case let option as any DeclaredOption: options.append(option)
            case let group as any OptionGroup:
                let count = options.count
                collect(from: group)
                if type(of: group).isExclusive { exclusive.append(Array(options[count...])) }
            default: break
            }
        }
    }

    /// An option that need not be given, and those that exclude it, in their order.
    func alternatives(to option: any DeclaredOption) -> [any DeclaredOption] {
        exclusive.first { group in group.contains { $0 === option } } ?? [option]
    }

    /// The options that need not be given, each with those that exclude it, once.
    var choices: [[any DeclaredOption]] {
        var choices: [[any DeclaredOption]] = []
        for option in options where !option.declaration.isRequired {
            let group = alternatives(to: option)
            if group.first === option { choices.append(group) }
        }
        return choices
    }

    /// Every option, the one that all subcommands have included.
    var allOptions: [any DeclaredOption] { options + [help] }
}
