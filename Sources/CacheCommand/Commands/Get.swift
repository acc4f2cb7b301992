import Foundation
import KeyedArchive

/// `get`: prints records as JSON, as property lists, or as they are.
struct Get: Subcommand {
    static let name = "get"
    static let summary = "Print records of a cache as JSON"
    static let discussion: String? =
        "Changes nothing: a damaged entry stays, and no entry counts as used. Shows a model or list of the "
        + "library ModelCache with its age. The exit code is 1 if a key has no entry, or an entry that cannot "
        + "be read."
    static let examples = [
        CommandExample(arguments: ["get", "362", "--cache", "cities"], meaning: "Look at one city"),
        CommandExample(
            arguments: ["get", "-", "--cache", "cities", "--json"],
            meaning: "Print a record per line for the keys on standard input"
        ),
        CommandExample(
            arguments: ["get", "362", "--cache", "cities", "--raw"],
            meaning: "Print the archive itself, for a file or a pipe"
        ),
    ]

    @Operand(
        "KEY",
        help: "The keys of the records; - reads keys from standard input, one per line, as list prints them"
    )
    var keys: [String]
    let cache = SharedCacheOptions()
    @Flag(.rawKeys) var readsRawKeys: Bool
    @Option(
        "as",
        value: "FORM",
        help: "json, plist (a binary property list) or xml (a property list); of one record the latter two",
        standard: "json",
        parse: ArgumentText.word(["json": .json, "plist": .binary, "xml": .xml])
    )
    var form: DocumentForm?
    @Flag("raw", help: "Print the keyed archive of one record as it was saved") var writesArchive: Bool
    @Flag(.json) var writesJSON: Bool

    private func keyOrigin() throws(ArgumentError) -> KeySource.Origin {
        try KeySource.Origin(keys, isRaw: readsRawKeys, of: Self.self)
    }

    func validate() throws(ArgumentError) {
        _ = try keyOrigin()
        if writesArchive, form != nil { throw Self.failure(.conflictingOptions("--raw", "--as")) }
        if writesArchive, writesJSON { throw Self.failure(.conflictingOptions("--raw", "--json")) }
        if writesJSON, (form ?? .json) != .json { throw Self.failure(.conflictingOptions("--as", "--json")) }
        // Several of these in a row are not one.
        if writesArchive || (form ?? .json) != .json {
            let option = writesArchive ? "--raw" : "--as \(_form.text ?? "")"
            if keys == ["-"] { throw Self.failure(.conflictingOptions("-", option)) }
            if keys.count > 1 { throw Self.failure(.tooManyOperands(option: option, placeholder: "KEY")) }
        }
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(self.cache.selection())
        let date = environment.date()
        var keys = try KeySource(keyOrigin(), environment)
        var status = ExitStatus.success
        while let key = try keys.next() {
            do {
                try write(key.get(), of: cache, at: date, to: environment.output, environment.errors)
            } catch let bad as BadRecord {
                environment.errors.report(BadRecordMessage(bad))
                status = .failure
            } catch let failure as CommandFailure {
                environment.errors.report(CommandFailureMessage(failure))
                status = .failure
            }
        }
        return status
    }

    private func write(
        _ key: String,
        of cache: any CacheAccess,
        at date: Date,
        to output: any TextOutput,
        _ errors: any ErrorOutput
    ) throws {
        if writesArchive { return try output.write(bytes: [UInt8](cache.archive(of: key, at: date))) }
        let value = try value(of: key, in: cache, at: date)
        guard let form, form != .json else {
            return try JSONWriter.write(value, isIndented: !writesJSON, to: output)
        }
        let content = PropertyListContent(value)
        let bytes: [UInt8]
        do throws(DocumentFault) {
            bytes = try form.bytes(of: content)
        } catch {
            throw CommandFailure.noPropertyList(key: key, error)
        }
        try output.write(bytes: bytes)
        if let loss = form.loss(of: content) { errors.report("\(EscapedText(key)): \(loss)") }
    }

    private func value(of key: String, in cache: any CacheAccess, at date: Date) throws -> RecordValue {
        let tree = try cache.tree(of: key, at: date)
        var reader = ArchiveRecord(tree)
        let value: RecordValue
        do throws(ArchiveRecord.Entangled) {
            value = try reader.value()
        } catch {
            throw CommandFailure.entangled(key: key, try self.cache.selection())
        }
        guard case .object(let stored) = value, let entry = ModelEntry(tree) else { return value }
        return .object(entry.inWords(stored))
    }
}
