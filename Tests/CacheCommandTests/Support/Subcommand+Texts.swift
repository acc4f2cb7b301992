@testable import CacheCommand

extension Subcommand {
    /// The options that it takes, as they are written on a command line.
    static var spellings: [String] { DeclaredArguments(of: Self()).allOptions.map(\.declaration.spelling) }

    /// The arguments that were given, in the order of their declarations.
    var texts: [String] {
        let declared = DeclaredArguments(of: self)
        return (declared.operand?.texts ?? [])
            + declared.options.compactMap { option in
                option.text.map { "\(option.declaration.spelling)=\($0)" }
            }
    }
}
