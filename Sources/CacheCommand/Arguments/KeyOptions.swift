/// The options that give the keys of an encrypted cache.
struct KeyOptions: OptionGroup {
    static let isExclusive = true

    @Option(
        "key-file",
        value: "PATH",
        help: "File with the keys of an encrypted cache, the one for new entries first: on each line NUMBER:HEX",
        standard: "the cache is not encrypted",
        parse: ArgumentText.nonEmpty("a file")
    )
    var file: String?
    @Option(
        "key-env",
        value: "NAME",
        help: "Variable of the environment with such lines",
        parse: ArgumentText.nonEmpty("the name of a variable")
    )
    var variable: String?

    /// The remedy where a key is missing, for messages.
    static let advice = "give its key with --key-file PATH or --key-env NAME"

    /// The first of these options that is given, as it is written.
    var firstGiven: String? {
        let options: [any DeclaredOption] = [_file, _variable]
        return options.first { $0.text != nil }?.declaration.spelling
    }

    /// `nil` if none of them is given.
    var place: KeyPlace? { file.map { .file($0) } ?? variable.map { .variable($0) } }
}
