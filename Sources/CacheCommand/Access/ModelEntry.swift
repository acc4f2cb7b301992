import Foundation
import KeyedArchive

/// The kind of an entry that the library ModelCache has made.
///
/// The command does not know the library: its entries are told by their class and fields, which `docs/maps/models.md` lists.
enum ModelEntry: Sendable, Equatable {
    case model
    case list(elementCount: Int)
    case bookkeeping

    /// `nil` for an archive that is another program's.
    init?(_ tree: ArchiveTree) {
        guard tree.roots.count == 1 else { return nil }
        let root = tree.roots[0]
        switch tree.className(of: root.value) {
        case "ModelCache.Model": self = .model
        case "ModelCache.List":
            guard let list = tree.instance(root.value) else { return nil }
            if case .string(let text)? = list["lines"].flatMap(tree.scalar) {
                self = .list(elementCount: Self.lines(text).count)
            } else {
                self = .list(elementCount: list["ids"].flatMap(tree.members)?.count ?? 0)
            }
        case "ModelCache.Bookkeeping": self = .bookkeeping
        default: return nil
        }
    }

    /// `nil` for an entry of another program, and for one that cannot be read: `verify` tells of that.
    init?(key: String, in cache: any CacheAccess, at date: Date) {
        do throws(CommandFailure) {
            self.init(try cache.tree(of: key, at: date))
        } catch {
            return nil
        }
    }

    /// The identities of a list's elements, which are written as lines of one text.
    private static func lines(_ text: String) -> [Substring.UTF8View] {
        text.utf8.split(separator: UInt8(ascii: "\n"))
    }

    /// In a word, for people.
    var name: String {
        switch self {
        case .model: "model"
        case .list(1): "list with 1 element"
        case .list(let count): "list with \(CountText(count)) elements"
        case .bookkeeping: "bookkeeping"
        }
    }

    /// For programs.
    var json: Record {
        switch self {
        case .model: ["kind": .string("model")]
        case .list(let count): ["kind": .string("list"), "elements": .count(count)]
        case .bookkeeping: ["kind": .string("bookkeeping")]
        }
    }
}

// The fields as `get` shows them.
extension ModelEntry {
    /// How a field is written in words; fields that are not here keep their names, and come last.
    private struct Wording {
        let field: String
        let name: String
        var write: (RecordValue) -> RecordValue = { $0 }
    }

    private static var state: [Wording] {
        [
            Wording(field: "at", name: "fetchedAt", write: date),
            Wording(field: "until", name: "freshUntil", write: date),
            Wording(field: "swr", name: "staleWhileRevalidateSeconds"),
            Wording(field: "sie", name: "staleIfErrorSeconds"),
            Wording(field: "valid", name: "validators", write: validators),
            Wording(field: "vary", name: "variesBy"),
            Wording(field: "part", name: "isPartial"),
            Wording(field: "refused", name: "cursorRefused"),
            Wording(field: "r", name: "revision"),
            Wording(field: "g", name: "generation"),
        ]
    }

    private var wordings: [Wording] {
        switch self {
        case .model:
            [Wording(field: "model", name: "model")] + Self.state
                + [Wording(field: "version", name: "schemaVersion")]
        case .list:
            [
                Wording(field: "lines", name: "elements", write: Self.elements),
                Wording(field: "ids", name: "elements"),
                Wording(field: "model", name: "modelName"),
                Wording(field: "next", name: "nextPage"),
                Wording(field: "offset", name: "nextOffset"),
                Wording(field: "previous", name: "previousPage"),
                Wording(field: "unordered", name: "isUnordered"),
                Wording(field: "details", name: "details"),
                Wording(field: "tags", name: "tags"),
            ] + Self.state
        case .bookkeeping:
            [
                Wording(field: "generation", name: "generation"),
                Wording(field: "reserved", name: "reservedRevisions"),
                Wording(field: "invalidations", name: "invalidatedBefore", write: Self.invalidations),
            ]
        }
    }

    /// The entry's content first, then its age, in words.
    func inWords(_ stored: Record) -> Record {
        Self.inWords(stored, wordings)
    }

    private static func inWords(_ stored: Record, _ wordings: [Wording]) -> Record {
        var record = Record()
        for wording in wordings {
            guard let value = stored[wording.field] else { continue }
            record.fields.append(RecordField(name: wording.name, value: wording.write(value)))
        }
        let known = Set(wordings.map(\.field))
        record.fields += stored.fields.filter { !known.contains($0.name) }
        return record
    }

    private static func elements(_ value: RecordValue) -> RecordValue {
        guard case .string(let text) = value else { return value }
        return .array(lines(text).map { .string(String(Substring($0))) })
    }

    private static func date(_ value: RecordValue) -> RecordValue {
        switch value {
        case .double(let seconds): .date(Date(timeIntervalSinceReferenceDate: seconds))
        case .int(let seconds): .date(Date(timeIntervalSinceReferenceDate: Double(seconds)))
        default: value
        }
    }

    private static func validators(_ value: RecordValue) -> RecordValue {
        guard case .object(let record) = value else { return value }
        return .object(
            inWords(
                record,
                [
                    Wording(field: "e", name: "entityTag"),
                    Wording(field: "m", name: "lastModified"),
                    Wording(field: "u", name: "of"),
                    Wording(field: "s", name: "freshSeconds"),
                    Wording(field: "x", name: "freshUntil", write: date),
                ]
            )
        )
    }

    /// A revision for each scope that was invalidated: `type user`, say.
    private static func invalidations(_ value: RecordValue) -> RecordValue {
        guard case .array(let texts) = value else { return value }
        let kinds = ["t:": "type", "m:": "model", "l:": "list", "g:": "tag"]
        var record = Record()
        for case .string(let text) in texts {
            let parts = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false)
            guard parts.count == 2, let revision = Int64(parts[0]) else { return value }
            let kind = kinds[String(parts[1].prefix(2))]
            let name = parts[1] == "*" ? "everything" : kind.map { "\($0) \(parts[1].dropFirst(2))" }
            record.fields.append(RecordField(name: name ?? String(parts[1]), value: .int(revision)))
        }
        return .object(record)
    }
}
