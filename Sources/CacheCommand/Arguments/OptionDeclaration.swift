/// One option of a subcommand, as parser and help both read it.
struct OptionDeclaration: Sendable, Equatable {
    /// Without its dashes.
    let name: String
    /// The one-letter form, without its dash.
    var letter: Character?
    /// What stands for the value in help; `nil` if the option takes none.
    var placeholder: String?
    /// What it does, in words for help.
    let meaning: String
    /// What holds without it, where that is not plain.
    var standard: String?
    var isRequired = false

    /// As it is written on a command line.
    var spelling: String { "--\(name)" }

    /// As it stands in help.
    var form: String { placeholder.map { "\(spelling) \($0)" } ?? spelling }
}
