import TypedCache

/// An option of a subcommand: its declaration, its parser and its value, as one property of the subcommand.
///
/// ```swift
/// @Option("tag", value: "NAME", help: "Tag the records", parse: ArgumentText.tag) var tag: String?
/// @Option(required: "key", value: "FIELD", help: "…", parse: …) var keyField: String
/// @Flag("quiet", help: "Show neither progress nor summary") var isQuiet: Bool
/// ```
///
/// A class, since the parser finds the declarations by reflection and fills in the values.
@propertyWrapper
final class Option<Value>: DeclaredOption {
    let declaration: OptionDeclaration
    var text: String?
    private let read: (String) throws(InvalidValue) -> Value
    private var value: Value?

    private init(
        _ declaration: OptionDeclaration,
        absent: Value?,
        read: @escaping (String) throws(InvalidValue) -> Value
    ) {
        self.declaration = declaration
        self.read = read
        value = absent
    }

    var wrappedValue: Value {
        guard let value else { preconditionFailure("\(declaration.spelling) is read before it is parsed") }
        return value
    }

    func parse() throws(InvalidValue) {
        if let text { value = try read(text) }
    }

    var words: [String] {
        guard declaration.placeholder != nil else { return [] }
        do throws(InvalidValue) {
            _ = try read("")
            return []
        } catch {
            return error.words
        }
    }

    /// An option that must be given.
    convenience init(
        required name: String,
        value placeholder: String,
        help: String,
        parse: @escaping (String) throws(InvalidValue) -> Value
    ) {
        let declaration = OptionDeclaration(name: name, placeholder: placeholder, help: help, isRequired: true)
        self.init(declaration, absent: nil, read: parse)
    }

    /// An option that must be given, as its declaration says.
    convenience init(
        required declaration: OptionDeclaration,
        parse: @escaping (String) throws(InvalidValue) -> Value
    ) {
        self.init(declaration, absent: nil, read: parse)
    }

    /// An option that may be given; `nil` if it is not.
    convenience init<Given>(
        _ declaration: OptionDeclaration,
        parse: @escaping (String) throws(InvalidValue) -> Given
    ) where Value == Given? {
        self.init(declaration, absent: .some(nil)) { text throws(InvalidValue) in try parse(text) }
    }

    /// An option that may be given; `nil` if it is not.
    ///
    /// - Parameters:
    ///   - letter: the one-letter form, without its dash.
    ///   - standard: the default in words, for help, where that is not plain.
    convenience init<Given>(
        _ name: String,
        letter: Character? = nil,
        value placeholder: String,
        help: String,
        standard: String? = nil,
        parse: @escaping (String) throws(InvalidValue) -> Given
    ) where Value == Given? {
        let declaration = OptionDeclaration(
            name: name,
            letter: letter,
            placeholder: placeholder,
            help: help,
            standard: standard
        )
        self.init(declaration, parse: parse)
    }
}

/// An option without a value.
typealias Flag = Option<Bool>

extension Option where Value == Bool {
    convenience init(_ declaration: OptionDeclaration) {
        self.init(declaration, absent: false) { _ in true }
    }

    /// - Parameter letter: the one-letter form, without its dash.
    convenience init(_ name: String, letter: Character? = nil, help: String) {
        self.init(OptionDeclaration(name: name, letter: letter, help: help))
    }
}

/// One option, as parser and help both read it.
struct OptionDeclaration: Sendable, Equatable {
    /// Without its dashes.
    let name: String
    /// The one-letter form, without its dash.
    var letter: Character?
    /// The word that stands for the value in help; `nil` if the option takes no value.
    var placeholder: String?
    /// Its effect, in words for help.
    let help: String
    /// The default if it is not given, in words for help, where that is not plain.
    var standard: String?
    var isRequired = false

    /// As it is written on a command line.
    var spelling: String { "--\(name)" }

    /// As it stands in help.
    var form: String { placeholder.map { "\(spelling) \($0)" } ?? spelling }

    // Options that several groups have.
    static let cacheName = OptionDeclaration(
        name: "cache",
        placeholder: "NAME",
        help: "Name of the cache",
        isRequired: true
    )
    static let root = OptionDeclaration(
        name: "root",
        placeholder: "DIR",
        help: "Directory that holds the app's caches",
        standard: "that of the variable TYPED_CACHE_ROOT"
    )
    static let app = OptionDeclaration(
        name: "app",
        placeholder: "NAME",
        help: "App whose caches these are",
        standard: "that of TYPED_CACHE_APP, or the command's own caches"
    )

    // Options without a value that several subcommands take.
    static let json = OptionDeclaration(name: "json", help: "Print JSON")
    static let rawKeys = OptionDeclaration(
        name: "null",
        letter: "0",
        help: "With - for KEY: keys on standard input are as they are, followed by a NUL each"
    )
}

/// An option of any type, for the parser and for help.
protocol DeclaredOption: AnyObject {
    var declaration: OptionDeclaration { get }
    /// The value as it stands on the command line, empty for an option without one; `nil` if the option is not given.
    var text: String? { get set }
    /// Reads the text as the option's value.
    func parse() throws(InvalidValue)
    /// All values that the option takes, where they are a few words; empty where they are not.
    var words: [String] { get }
}

/// The part of an argument's value that cannot be taken, and a description of values that can.
struct InvalidValue: Error, Sendable, Equatable {
    let part: String
    let expected: String
    /// All values that can be taken, if they are a few words.
    let words: [String]

    init(_ part: String, expected: String, words: [String] = []) {
        self.part = part
        self.expected = expected
        self.words = words
    }
}

/// Parsers of options with plain values.
enum ArgumentText {
    /// Takes any text except an empty one.
    static func nonEmpty(_ expected: String) -> (String) throws(InvalidValue) -> String {
        { text throws(InvalidValue) in
            guard !text.isEmpty else { throw InvalidValue(text, expected: expected) }
            return text
        }
    }

    /// Takes a tag that an entry can have.
    static func tag(_ text: String) throws(InvalidValue) -> String {
        let counts = EntryTags.byteCounts
        guard counts.contains(text.utf8.count) else {
            throw InvalidValue(text, expected: "a tag of \(counts.lowerBound) to \(counts.upperBound) bytes")
        }
        return text
    }

    /// Takes a whole number.
    static func count(_ text: String) throws(InvalidValue) -> Int {
        guard let count = Int(text), count >= 0 else { throw InvalidValue(text, expected: "a whole number") }
        return count
    }

    /// Takes one of a few words.
    static func word<Value>(_ words: KeyValuePairs<String, Value>) -> (String) throws(InvalidValue) -> Value {
        { text throws(InvalidValue) in
            guard let word = words.first(where: { $0.key == text }) else {
                let names = words.map(\.key)
                throw InvalidValue(text, expected: "one of \(names.joined(separator: ", "))", words: names)
            }
            return word.value
        }
    }
}
