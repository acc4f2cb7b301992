import ArchiveStore
import Foundation
import KeyedArchive
import TypedCache

/// `diff`: compares two caches.
struct Diff: Subcommand {
    static let name = "diff"
    static let summary = "Compare the records and tags of two caches"
    static let discussion: String? =
        "Prints a line for each key: - if only the first cache has it, + if only the second has it, ~ if the "
        + "records differ in a byte, or in their tags. Dates, and the way in which a record is archived, make "
        + "no difference. Expired entries count as missing. The exit code is 0 if the caches are equal, 1 if "
        + "they differ, and 2 if a cache, or one of its entries, cannot be read."
    static let examples = [
        CommandExample(
            arguments: ["diff", "cities", "/backup/cities", "--app", "atlas", "--long"],
            meaning: "Compare a cache with a copy of its directory, field by field"
        )
    ]

    static let failureStatus = ExitStatus.trouble
    static let exitMeanings: KeyValuePairs = [
        0: "The caches have the same.", 1: "They differ.",
        2: "They could not be compared, or the command line was not understood. Standard error tells why.",
    ]

    @Operand("CACHE", help: "Two caches: a name, or the path of a cache's directory, with a / in it")
    var caches: [String]
    let location = LocationOptions()
    let keys = KeyOptions()
    @Flag("long", help: "Show the fields that differ, with both values") var isLong: Bool
    @Flag(.json) var writesJSON: Bool

    func validate() throws(ArgumentError) {
        if caches.count < 2 { throw Self.failure(.missingOperand("the second CACHE")) }
        if caches.count > 2 { throw Self.failure(.unexpectedOperand(caches[2])) }
    }

    private func selection(_ text: String) -> CacheSelection {
        guard text.contains("/") else {
            return CacheSelection(name: text, location: location.location, keys: keys.place)
        }
        let url = URL(fileURLWithPath: text, isDirectory: true)
        let root = url.deletingLastPathComponent().path(percentEncoded: false)
        return CacheSelection(name: url.lastPathComponent, location: .root(root), keys: keys.place)
    }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let interruption = environment.trapSignals()
        let first = try environment.backend.open(selection(caches[0]))
        let second = try environment.backend.open(selection(caches[1]))
        var comparison = CacheComparison(first: first, second: second, date: environment.date())
        try environment.printToReader {
            try comparison.run(until: interruption) { difference in
                if writesJSON {
                    try environment.write(difference.json)
                } else {
                    try environment.output.write(difference.prose(isLong: isLong))
                }
            } unreadable: { message in
                environment.errors.report(message)
            }
        }
        if let signal = interruption.signal { return .signal(signal) }
        if comparison.unreadableCount > 0 { return Self.failureStatus }
        return comparison.count == 0 ? .success : .failure
    }
}

/// Compares the entries of two caches, one after another.
struct CacheComparison {
    let first: any CacheAccess
    let second: any CacheAccess
    /// The moment by which entries have expired.
    let date: Date
    private(set) var count = 0
    private(set) var unreadableCount = 0
    /// The places and reasons of damages that were told: a damaged entry is met in the list, and by its key.
    private var told: Set<[String?]> = []

    init(first: any CacheAccess, second: any CacheAccess, date: Date) {
        self.first = first
        self.second = second
        self.date = date
    }

    /// Gives each difference to `body`, until a signal comes.
    ///
    /// - Parameter unreadable: is told the entries that cannot be read.
    /// - Throws: the errors of `body`, and of listing the caches.
    mutating func run(
        until interruption: any Interruption,
        _ body: (CacheDifference) throws -> Void,
        unreadable: (any CustomStringConvertible) -> Void
    ) throws {
        func tell(_ error: CacheError?, _ message: any CustomStringConvertible) {
            if let error, error.code == .corrupted {
                let finding = EntryFinding(error)
                guard told.insert([finding.place, finding.reason]).inserted else { return }
            }
            unreadableCount += 1
            unreadable(message)
        }
        try first.forEachEntry(EntryFilter(), at: date, until: interruption) { error in
            tell(error, EntryFinding(error).complaint)
        } _: { entry in
            let found: CacheDifference.Change?
            do throws(CommandFailure) {
                found = try change(of: entry)
            } catch {
                var cause: CacheError?
                if case .unreadableEntry(_, let error) = error { cause = error }
                tell(cause, CommandFailureMessage(error))
                return true
            }
            guard let found else { return true }
            count += 1
            try body(CacheDifference(key: entry.key, change: found))
            return true
        }
        try second.forEachEntry(EntryFilter(), at: date, until: interruption) { error in
            tell(error, EntryFinding(error).complaint)
        } _: { entry in
            do throws(CacheError) {
                let former = try first.peek(entry.key) { _ in false }
                if former.map({ !$0.isExpired(at: date) }) ?? false { return true }
            } catch {
                tell(error, CommandFailureMessage(CommandFailure.unreadableEntry(key: entry.key, error)))
                return true
            }
            count += 1
            try body(CacheDifference(key: entry.key, change: .added))
            return true
        }
    }

    /// `nil` if both caches have the same.
    private func change(of entry: EntryInformation) throws(CommandFailure) -> CacheDifference.Change? {
        let former: Data
        do throws(CommandFailure) {
            former = try first.archive(of: entry.key, at: date)
        } catch .noEntry {
            return nil
        }
        let latter: Data
        do throws(CommandFailure) {
            latter = try second.archive(of: entry.key, at: date)
        } catch .noEntry {
            return .removed
        }
        let other = information(of: entry.key)
        let texts = { (tags: [String]) in RecordValue.array(tags.map(RecordValue.string)) }
        let formerTags = texts(entry.attributes.tags)
        let tags = other.map { texts($0.attributes.tags) } ?? formerTags
        var fields: [CacheDifference.Field] = []
        if !tags.isIdentical(to: formerTags) {
            fields.append(.init(path: "(tags)", former: formerTags, latter: tags))
        }
        if former != latter {
            fields += CacheDifference.Field.differences(
                between: try record(former, entry.key),
                and: try record(latter, entry.key)
            )
        }
        return fields.isEmpty ? nil : .changed(fields)
    }

    private func information(of key: String) -> EntryInformation? {
        let found = Result { try second.peek(key) { _ in false } }
        guard case .success(let entry) = found else { return nil }
        return entry
    }

    private func record(_ archive: Data, _ key: String) throws(CommandFailure) -> RecordValue {
        do {
            var reader = ArchiveRecord(try ArchiveTree(sharing: archive))
            return try reader.value()
        } catch let error as ArchiveError {
            throw .unsoundEntry(key: key, error)
        } catch {
            throw .entangled(key: key, CacheSelection(name: "", location: .standard))
        }
    }
}

/// A key for which two caches differ.
struct CacheDifference {
    enum Change {
        case added
        case removed
        case changed([Field])
    }

    /// A field with other values.
    struct Field {
        /// The names of the fields that lead to it, with dots between them.
        let path: String
        /// `nil` where there is no such field.
        let former: RecordValue?
        let latter: RecordValue?

        /// Both values, with their types or their characters' numbers where their texts look alike.
        var prose: String {
            let text = { (value: RecordValue?) in value.map { JSONWriter.text($0, isIndented: false) } ?? "none" }
            var (formerText, latterText) = (text(former), text(latter))
            if formerText == latterText, let former, let latter {
                if !formerText.utf8.elementsEqual(latterText.utf8) {
                    (formerText, latterText) = (JSONWriter.ascii(formerText), JSONWriter.ascii(latterText))
                } else {
                    formerText = "\(former.typeName) \(formerText)"
                    latterText = "\(latter.typeName) \(latterText)"
                }
            }
            return "\(EscapedText(path)): \(formerText) -> \(latterText)"
        }

        /// For programs: a value that is not there is no member.
        var json: Record {
            var record: Record = ["field": .string(path)]
            if let former { record.fields.append(RecordField(name: "former", value: former)) }
            if let latter { record.fields.append(RecordField(name: "latter", value: latter)) }
            return record
        }

        /// The fields that differ, in the order of the former record.
        static func differences(between former: RecordValue, and latter: RecordValue) -> [Field] {
            var fields: [Field] = []
            collect(former, latter, path: "", into: &fields)
            return fields
        }

        private static func collect(
            _ former: RecordValue,
            _ latter: RecordValue,
            path: String,
            into fields: inout [Field]
        ) {
            guard !former.isIdentical(to: latter) else { return }
            guard case .object(let former) = former, case .object(let latter) = latter else {
                return fields.append(Field(path: path.isEmpty ? "(record)" : path, former: former, latter: latter))
            }
            let place = { (name: String) in path.isEmpty ? name : "\(path).\(name)" }
            for field in former.fields {
                if let other = latter.value(exactly: field.name) {
                    collect(field.value, other, path: place(field.name), into: &fields)
                } else {
                    fields.append(Field(path: place(field.name), former: field.value, latter: nil))
                }
            }
            for field in latter.fields where former.value(exactly: field.name) == nil {
                fields.append(Field(path: place(field.name), former: nil, latter: field.value))
            }
        }
    }

    let key: String
    let change: Change

    /// For people; with the fields, if it is long.
    func prose(isLong: Bool) -> String {
        let key = EscapedText(key)
        switch change {
        case .added: return "+ \(key)\n"
        case .removed: return "- \(key)\n"
        case .changed(let fields):
            guard isLong else { return "~ \(key)\n" }
            return "~ \(key)\n" + fields.map { "    \($0.prose)\n" }.joined()
        }
    }

    /// For programs.
    var json: Record {
        var record: Record = ["key": .string(key)]
        switch change {
        case .added: record.fields.append(RecordField(name: "change", value: .string("added")))
        case .removed: record.fields.append(RecordField(name: "change", value: .string("removed")))
        case .changed(let fields):
            record.fields.append(RecordField(name: "change", value: .string("changed")))
            record.fields.append(RecordField(name: "fields", value: .array(fields.map { .object($0.json) })))
        }
        return record
    }
}
