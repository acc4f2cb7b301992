import KeyedArchive

/// `dump`: prints an archive as a tree.
struct Dump: Subcommand {
    static let name = "dump"
    static let summary = "Print a keyed archive, or the one of a cache's entry, as a tree"
    static let discussion: String? =
        "With --cache it is the archive of the entry for KEY, in any layout. Without, FILE is an archive, or the "
        + "file of an entry of a cache with a file for each."
    static let examples = [
        CommandExample(arguments: ["dump", "zoo.archive"], meaning: "See the objects in an archive"),
        CommandExample(
            arguments: ["dump", "362", "--cache", "cities"],
            meaning: "See the objects that an entry was saved as"
        ),
    ]

    @Operand("FILE|KEY", help: "The file to look into, or the key of an entry") var fileOrKey: String
    @Option(
        "cache",
        value: "NAME",
        help: "Cache whose entry for a key is meant",
        standard: "a file is meant",
        parse: ArgumentText.nonEmpty("the name of a cache")
    )
    var cache: String?
    let location = LocationOptions()
    @Flag(.json) var writesJSON: Bool

    func validate() throws(ArgumentError) {
        if cache == nil, location.isGiven { throw Self.failure(.missingOption("--cache NAME")) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let outline = try outline(in: environment)
        if writesJSON {
            try JSONWriter.write(OutlineJSON(outline).value, isIndented: false, to: environment.output)
        } else {
            try environment.output.write(outline.description)
        }
        return .success
    }

    private func outline(in environment: CommandEnvironment) throws -> ArchiveOutline {
        guard let cache else { return try environment.backend.dump(fileOrKey) }
        let selection = CacheSelection(name: cache, location: location.location)
        return ArchiveOutline(try environment.backend.open(selection).tree(of: fileOrKey, at: environment.date()))
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
            return .object(["label": label, "value": RecordValue(value)])
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

    private mutating func children(of line: ArchiveOutline.Line) -> RecordValue {
        var children: [RecordValue] = []
        while let first = rest.first, first.depth > line.depth { children.append(next()) }
        return .array(children)
    }
}
