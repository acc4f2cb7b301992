import ArchiveStore
import Foundation
import KeyedArchive

/// `cat`: prints the records of a cache, which `warm` reads.
struct Cat: Subcommand {
    static let name = "cat"
    static let summary = "Print the records of a cache, a line of JSON each, as warm reads them"
    static let discussion: String? =
        "The reverse of warm: warm - with the same key field makes a cache of equal records, but dates and "
        + "data in them come back as strings, unless --fields of warm declares them. Leaves out the dates and "
        + "tags of entries, which export has. Reports entries that cannot be read, and leaves them out; the "
        + "exit code is then 1. Ctrl-C stops after a whole line."
    static let examples = [
        CommandExample(
            arguments: ["cat", "--cache", "cities", "--prefix", "29"],
            meaning: "Print the records whose keys begin with 29"
        ),
        CommandExample(
            arguments: ["cat", "--cache", "prices", "--key", "sku"],
            meaning: "Print all records, with their keys as the field sku"
        ),
    ]

    let cache = CacheOptions()
    let selection = SelectionOptions()
    @Option(
        "key",
        value: "FIELD",
        help: "Write the key as the first field of each record, in place of a field of this name",
        parse: ArgumentText.nonEmpty("the name of a field")
    )
    var keyField: String?

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        let cache = try environment.backend.open(self.cache.selection)
        let date = environment.date()
        var reporter = EntryReporter(environment.errors)
        var status = ExitStatus.success
        try cache.forEachEntry(selection.filter, at: date, until: interruption) { error in
            status = .failure
            reporter.complain(EntryFinding(error).complaint)
        } _: { entry in
            let value: RecordValue
            do throws(CommandFailure) {
                value = try self.value(of: entry, in: cache)
            } catch .noEntry {
                // Removed in the meantime.
                return true
            } catch {
                status = .failure
                reporter.complain(CommandFailureMessage(error))
                return true
            }
            try write(value, of: entry, to: environment.output)
            return true
        }
        return interruption.signal.map(ExitStatus.signal) ?? status
    }

    private func value(of entry: EntryInformation, in cache: any CacheAccess) throws(CommandFailure) -> RecordValue
    {
        // Also if it has expired: it was selected.
        let tree = try cache.tree(of: entry.key, at: .distantPast)
        var reader = ArchiveRecord(tree)
        do throws(ArchiveRecord.Entangled) {
            return try reader.value()
        } catch {
            throw .entangled(key: entry.key, self.cache.selection)
        }
    }

    private func write(
        _ value: RecordValue,
        of entry: EntryInformation,
        to output: any TextOutput
    ) throws(OutputError) {
        var value = value
        if let keyField {
            var fields = [RecordField(name: "value", value: value)]
            if case .object(let record) = value { fields = record.fields.filter { $0.name != keyField } }
            let key = RecordField(name: keyField, value: .string(entry.key))
            value = .object(Record(fields: [key] + fields))
        }
        try JSONWriter.write(value, isIndented: false, to: output)
    }
}
