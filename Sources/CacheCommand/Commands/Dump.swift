import Foundation
import KeyedArchive
import SequentialArchive

/// `dump`: prints documents as trees.
struct Dump: Subcommand {
    static let name = "dump"
    static let summary = "Print archives, property lists, or entries of a cache, as trees"
    static let discussion: String? =
        "With --cache, prints the archives of the entries for the KEYs, in any layout. Without it, a FILE is "
        + "a keyed archive, an archive of NSArchiver (a typed stream), a property list (binary, XML, OpenStep's "
        + "text, .strings, GNUstep's text), JSON, or the file of an entry of a cache with a file for each; - is "
        + "standard input. Prints several trees below their names. In JSON, data is Base64 with the kind data, "
        + "or archive if it is an archive itself; a date has the kind date. The exit code is 1 if one cannot be "
        + "read."
    static let examples = [
        CommandExample(arguments: ["dump", "zoo.archive"], meaning: "See the objects in an archive"),
        CommandExample(
            arguments: ["dump", "362", "--cache", "cities"],
            meaning: "See the objects that an entry was saved as"
        ),
        CommandExample(
            arguments: ["dump", "a.plist", "b.plist", "--json"],
            meaning: "Print a line of JSON for each file"
        ),
    ]

    @Operand("FILE|KEY", help: "The files to look into, or the keys of entries") var filesOrKeys: [String]
    @Option(
        "cache",
        value: "NAME",
        help: "Cache with the entries for the keys",
        standard: "files are meant",
        parse: ArgumentText.nonEmpty("the name of a cache")
    )
    var cache: String?
    let location = LocationOptions()
    let keys = KeyOptions()
    @Flag(.json) var writesJSON: Bool

    func validate() throws(ArgumentError) {
        if cache == nil, location.isGiven || keys.firstGiven != nil {
            throw Self.failure(.missingOption("--cache NAME"))
        }
        if cache == nil, filesOrKeys.count(where: { $0 == "-" }) > 1 { throw Self.failure(.repeatedOption("-")) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let access = try cache.map { name in
            let selection = CacheSelection(name: name, location: location.location, keys: keys.place)
            return try environment.backend.open(selection)
        }
        return try environment.forEachDocument(filesOrKeys) { name, interruption in
            let outline =
                if let access {
                    ArchiveOutline(try access.tree(of: name, at: environment.date()))
                } else {
                    try DocumentFile.open(name, in: environment, until: interruption, for: .looking).outline
                }
            try write(outline, of: name, to: environment.output)
        }
    }

    private func write(_ outline: ArchiveOutline, of name: String, to output: any TextOutput) throws(OutputError) {
        if writesJSON {
            try JSONWriter.write(OutlineJSON(outline).value, isIndented: false, to: output)
            return
        }
        if filesOrKeys.count > 1 {
            let isFirst = name == filesOrKeys[0]
            try output.write("\(isFirst ? "" : "\n")\(EscapedText(name)):\n")
        }
        try output.write(outline.description)
    }
}

/// The outline of an archive for programs: the roots as nested objects, or the one root there is.
private struct OutlineJSON {
    private var rest: ArraySlice<ArchiveOutline.Line>
    private(set) var value = RecordValue.null

    init(_ outline: ArchiveOutline) {
        rest = outline.lines[...]
        var roots: [RecordValue] = []
        while !rest.isEmpty { roots.append(next()) }
        value = roots.count == 1 ? roots[0] : .array(roots)
    }

    /// Takes the first line and all that is inside of it.
    private mutating func next() -> RecordValue {
        let line = rest.removeFirst()
        let label = RecordValue.string(line.label)
        switch line.content {
        case .value(let value):
            guard let kind = Self.kind(of: value) else {
                return .object(["label": label, "value": RecordValue(value)])
            }
            return .object(["label": label, "kind": .string(kind), "value": RecordValue(value)])
        case .list:
            return .object(["label": label, "children": children(of: line)])
        case .reference(let place):
            return .object(["label": label, "reference": .count(place)])
        case .object(let className, let place):
            return .object([
                "label": label, "type": .string(className), "identifier": .count(place),
                "children": children(of: line),
            ])
        case .classDescription(let name):
            return .object(["label": label, "class": .string(name)])
        case .omitted:
            return .object(["label": label, "omitted": .bool(true)])
        }
    }

    /// The kind of a value whose text could be a string's; `nil` for all else.
    private static func kind(of value: ArchiveTree.Value) -> String? {
        switch value {
        case .date: "date"
        case .data(let data): isArchive(data) ? "archive" : "data"
        default: nil
        }
    }

    private static func isArchive(_ data: Data) -> Bool {
        if (try? TypedStream(data)) != nil { return true }
        return (try? ArchiveTree(sharing: data)) != nil
    }

    private mutating func children(of line: ArchiveOutline.Line) -> RecordValue {
        var children: [RecordValue] = []
        while let first = rest.first, first.depth > line.depth { children.append(next()) }
        return .array(children)
    }
}
