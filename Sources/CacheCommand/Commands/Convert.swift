import Foundation
import KeyedArchive

/// `convert`: writes property lists in another form.
struct Convert: Subcommand {
    static let name = "convert"
    static let summary = "Convert property lists, archives and JSON to another form"
    static let discussion: String? =
        "The content of a FILE decides its form: JSON, a property list (binary, XML, OpenStep's text, "
        + ".strings, GNUstep's text), an archive, or the file of a cache's entry. Replaces each FILE, unless an "
        + "option says otherwise, but never the file of an entry; - reads standard input and writes to standard "
        + "output. Writes a file whole or not at all; a device or pipe that -o names is written to. The exit "
        + "code is 1 if a file cannot be converted, for example because the form has no such value; the other "
        + "files are converted. XML has whole seconds: a warning says which dates lose a fraction. An archive "
        + "of NSArchiver is converted to its values; objects of other classes than Foundation's become "
        + "dictionaries with $class, $object and $values. Nothing is converted to such an archive."
    static let examples = [
        CommandExample(arguments: ["convert", "settings.plist", "--to", "xml"], meaning: "Make a file readable"),
        CommandExample(
            arguments: ["convert", "zoo.archive", "--to", "xml", "-o", "-"],
            meaning: "Look at an archive as XML, and leave it as it is"
        ),
        CommandExample(
            arguments: ["convert", "a.plist", "b.plist", "--to", "json", "-e", "json"],
            meaning: "Write a.json and b.json"
        ),
    ]

    @Operand("FILE", help: "The files to convert; - is standard input") var paths: [String]
    @Option(
        required: "to",
        value: "FORM",
        help: "The form: binary, xml, openstep or json; binary1 and xml1, as plutil has them, are binary and xml",
        parse: ArgumentText.word(DocumentForm.words)
    )
    var form: DocumentForm
    let destination = DestinationOptions()

    func validate() throws(ArgumentError) {
        if destination.output != nil, paths.count > 1 {
            throw Self.failure(
                .tooManyOperands(option: "--output", placeholder: "FILE", alternative: "--extension")
            )
        }
        if destination.fileExtension != nil, paths.contains("-") {
            throw Self.failure(.conflictingOptions("-", "--extension"))
        }
        if paths.count(where: { $0 == "-" }) > 1 { throw Self.failure(.repeatedOption("-")) }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        try checkTargets()
        return try environment.forEachDocument(paths) { path, interruption in
            let target = destination.path(for: path)
            if target == path, path != "-", DocumentFile.isStream(path) {
                throw CommandFailure.irregular(path: path)
            }
            if target != "-", DocumentFile.isEntry(target) { throw CommandFailure.entryFile(path: target) }
            let document = try DocumentFile.open(path, in: environment, until: interruption, for: .converting)
            let (bytes, loss): ([UInt8], String?)
            do throws(DocumentFault) {
                guard let list = document.propertyList(for: form) else {
                    throw DocumentFault("\(document.formatName) is not a property list, and cannot be converted")
                }
                (bytes, loss) = (try form.bytes(of: list), form.loss(of: list))
            } catch {
                throw CommandFailure.inconvertible(path: path, error)
            }
            try DocumentFile.write(bytes, to: target, in: environment, until: interruption)
            if let loss { environment.errors.report("\(EscapedText(path)): \(loss)") }
        }
    }

    /// - Throws: `.repeatedTarget` if two files are written to one.
    private func checkTargets() throws(ArgumentError) {
        var files: Set<String> = []
        for path in paths where path != "-" {
            let target = destination.path(for: path)
            let url = URL(fileURLWithPath: target)
            // Resolved apart, for the file need not be there.
            let directory = url.deletingLastPathComponent().resolvingSymlinksInPath()
            let file = directory.appending(path: url.lastPathComponent).resolvingSymlinksInPath().path
            guard files.insert(file).inserted else { throw Self.failure(.repeatedTarget(target)) }
        }
    }
}

/// The options that say where converted files go.
struct DestinationOptions: OptionGroup {
    static let isExclusive = true

    @Option(
        "output",
        letter: "o",
        value: "PATH",
        help: "File to write, for one FILE; - is standard output",
        standard: "FILE itself",
        parse: ArgumentText.nonEmpty("a path")
    )
    var output: String?
    @Option(
        "extension",
        letter: "e",
        value: "WORD",
        help: "Write beside each FILE, with this extension in place of its own",
        parse: Self.parseExtension
    )
    var fileExtension: String?

    /// The file that is written for the one at `path`.
    func path(for path: String) -> String {
        if let output { return output }
        guard let fileExtension else { return path }
        return (path as NSString).deletingPathExtension + "." + fileExtension
    }

    private static func parseExtension(_ text: String) throws(InvalidValue) -> String {
        let word = text.hasPrefix(".") ? String(text.dropFirst()) : text
        guard !word.isEmpty, !word.contains("/") else { throw InvalidValue(text, expected: "an extension") }
        return word
    }
}
