/// One option of a subcommand, as parser and help both read it.
struct OptionDeclaration: Sendable, Equatable {
    /// Without its dashes.
    let name: String
    /// The one-letter form, without its dash.
    var letter: Character?
    /// The word that stands for the value in help; `nil` if the option takes no value.
    var placeholder: String?
    /// Its effect, in words for help.
    let meaning: String
    /// The default if it is not given, in words for help, where that is not plain.
    var standard: String?
    var isRequired = false

    /// As it is written on a command line.
    var spelling: String { "--\(name)" }

    /// As it stands in help.
    var form: String { placeholder.map { "\(spelling) \($0)" } ?? spelling }
}
