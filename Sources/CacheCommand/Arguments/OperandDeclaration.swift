/// The operands that a subcommand takes besides its options.
struct OperandDeclaration: Sendable, Equatable {
    enum Arity: Sendable {
        case one
        case optional
        case many
    }

    /// The word that stands for it in help.
    let placeholder: String
    let arity: Arity
    let meaning: String

    /// As it stands in the usage line.
    var form: String {
        switch arity {
        case .one: placeholder
        case .optional: "[\(placeholder)]"
        case .many: "\(placeholder)…"
        }
    }
}
