import Foundation
import KeyedArchive

/// `get`: prints records as JSON.
struct Get: Subcommand {
    static let name = "get"
    static let summary = "Print records of a cache as JSON"
    static let discussion: String? =
        "Nothing is changed: an entry that is damaged stays where it is, and none counts as used. A model or list of "
        + "the library ModelCache is shown with its age. The exit code is 1 if a key has no entry, or one that "
        + "cannot be read."
    static let examples = [
        CommandExample(arguments: ["get", "362", "--cache", "cities"], meaning: "Look at one city"),
        CommandExample(
            arguments: ["get", "-", "--cache", "cities", "--json"],
            meaning: "Print a record per line for the keys on standard input"
        ),
    ]

    @Operand(
        "KEY",
        help: "The key it was saved for; - reads keys from standard input, one per line, as list prints them"
    )
    var key: String
    let cache = CacheOptions()
    @Flag(.rawKeys) var readsRawKeys: Bool
    @Flag(.json) var writesJSON: Bool

    private func keyOrigin() throws(ArgumentError) -> KeySource.Origin {
        try KeySource.Origin([key], isRaw: readsRawKeys, of: Self.self)
    }

    func validate() throws(ArgumentError) { _ = try keyOrigin() }

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(self.cache.selection)
        let date = environment.date()
        var keys = try KeySource(keyOrigin(), environment)
        var status = ExitStatus.success
        while let key = try keys.next() {
            do {
                let value = try value(of: key.get(), in: cache, at: date)
                try JSONWriter.write(value, isIndented: !writesJSON, to: environment.output)
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

    private func value(of key: String, in cache: any CacheAccess, at date: Date) throws -> RecordValue {
        let tree = try cache.tree(of: key, at: date)
        var reader = ArchiveRecord(tree)
        let value: RecordValue
        do throws(ArchiveRecord.Entangled) {
            value = try reader.value()
        } catch {
            throw CommandFailure.entangled(key: key, self.cache.selection)
        }
        guard case .object(let stored) = value, let entry = ModelEntry(tree) else { return value }
        return .object(entry.inWords(stored))
    }
}

/// Reads an archive as the value that it stands for, classes left aside; `get` prints this value.
struct ArchiveRecord {
    /// How many values are written out at most: objects that are referred to twice are written twice.
    private static let valueLimit = 1 << 20
    private static let depthLimit = 1_000

    /// Objects contain themselves, or refer to the same ones too often, to be written out.
    struct Entangled: Error {}

    private let tree: ArchiveTree
    private var open: Set<Int> = []
    private var count = 0

    init(_ tree: ArchiveTree) { self.tree = tree }

    /// The archive's root, or all its roots under their keys.
    mutating func value() throws(Entangled) -> RecordValue {
        if tree.roots.count == 1 { return try value(tree.roots[0].value) }
        return .object(try record(tree.roots.map { ($0.name, $0.value) }))
    }

    private mutating func record(_ values: [(name: String, value: ArchiveTree.Value)]) throws(Entangled) -> Record {
        var record = Record()
        for (name, value) in values {
            record.fields.append(RecordField(name: name, value: try self.value(value)))
        }
        return record
    }

    private mutating func value(_ value: ArchiveTree.Value) throws(Entangled) -> RecordValue {
        count += 1
        guard count <= Self.valueLimit else { throw Entangled() }
        if let scalar = tree.scalar(value) { return RecordValue(scalar) }
        guard case .reference(let place) = value else { return try whole(value) }
        if case .classDescription? = tree.object(place) { return .null }
        guard open.count < Self.depthLimit, open.insert(place).inserted else { throw Entangled() }
        defer { open.remove(place) }
        return try whole(value)
    }

    /// A value with all that it holds.
    private mutating func whole(_ value: ArchiveTree.Value) throws(Entangled) -> RecordValue {
        let children = tree.children(of: value)
        if tree.members(value) != nil {
            var values: [RecordValue] = []
            for child in children { values.append(try self.value(child.value)) }
            return .array(values)
        }
        return .object(try record(children))
    }
}
