import Foundation
import KeyedArchive
import TypedCache

/// The entry of a list as tables hold it: an object, as a model's is, with its elements' keys ready to be looked for.
final class ListEntry: Encoded, Codable, NamedInArchives, Equatable, Sendable {
    let record: ListRecord
    /// The keys of the elements; a failure if one of their identities cannot be a key.
    let keys: Result<PreparedKeys, CacheError>

    static var archivedName: String { "ModelCache.List" }

    /// - Parameter former: the entry that this one takes the place of: mostly the elements are the same, or a page more.
    init(_ record: ListRecord, over former: ListEntry? = nil) {
        self.record = record
        keys = Result { () throws(CacheError) in
            guard let former, record.ids.starts(with: former.record.ids) else {
                return try PreparedKeys(record.ids)
            }
            let known = try former.keys.get()
            let others = record.ids[former.record.ids.count...]
            return others.isEmpty ? known : try PreparedKeys(known, followedBy: others)
        }
    }

    convenience init(from decoder: any Decoder) throws { self.init(try ListRecord(from: decoder)) }

    func encode(to encoder: any Encoder) throws { try record.encode(to: encoder) }

    static func == (left: ListEntry, right: ListEntry) -> Bool { left.record == right.record }
}

/// The end of a list at which a page is added.
enum ListEnd: Sendable { case front, back }

/// A list: identities in order, without the models.
struct ListRecord: Codable, Equatable, Sendable {
    /// The identities of the elements, in order, each once.
    var ids: [String]
    /// The cursor of the page after the last element; `nil` at the list's end.
    var next: PageCursor?
    /// Where the last page began; `nil` if that was the first one.
    var last: PageCursor?
    /// The cursor of the page in front of the first element; `nil` at the list's start.
    var previous: PageCursor?
    /// The cursor of the page with the first element; `nil` if that is the one that was asked for without a cursor.
    var first: PageCursor?
    /// The type of the elements.
    var modelName: String
    /// The groups that the list belongs to.
    var tags: [String]
    /// Of the first page: later pages have no age of their own.
    var state: EntryState
    /// The details of the whole list from its latest page; `nil` if nothing.
    var details: ListDetails?
    /// Whether changes were under way at once whose order the server alone knows: the next first page takes the place of all
    /// pages.
    var isUnordered = false

    private enum CodingKeys: String, CodingKey {
        case ids, lines, next, offset, last, lastOffset, previous, first, details
        case isUnordered = "unordered"
        case modelName = "model"
        case tags
    }

    init(ids: [String], next: PageCursor?, modelName: String, tags: [String], state: EntryState) {
        self.ids = ids
        self.next = next
        self.modelName = modelName
        self.tags = tags
        self.state = state
    }

    /// An empty list.
    init<List: ModelList>(of list: List, _ state: EntryState) {
        self.init(ids: [], next: nil, modelName: List.Element.modelName, tags: list.tags.sorted(), state: state)
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        if let lines = try container.decodeIfPresent(String.self, forKey: .lines) {
            ids = Self.ids(in: lines)
        } else {
            ids = try container.decode([String].self, forKey: .ids)
        }
        next = try Self.cursor(offset: .offset, text: .next, in: container)
        last = try Self.cursor(offset: .lastOffset, text: .last, in: container)
        previous = try container.decodeIfPresent(String.self, forKey: .previous).map { PageCursor($0) }
        first = try container.decodeIfPresent(String.self, forKey: .first).map { PageCursor($0) }
        modelName = try container.decode(String.self, forKey: .modelName)
        tags = try container.decodeIfPresent([String].self, forKey: .tags) ?? []
        details = try container.decodeIfPresent(String.self, forKey: .details).map(ListDetails.init(json:))
        isUnordered = try container.decodeIfPresent(Bool.self, forKey: .isUnordered) ?? false
        state = try EntryState(from: decoder.container(keyedBy: EntryState.CodingKeys.self))
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        // One text, not an object for each of thousands.
        if let lines {
            try container.encode(lines, forKey: .lines)
        } else {
            try container.encode(ids, forKey: .ids)
        }
        try Self.encode(next, offset: .offset, text: .next, in: &container)
        try Self.encode(last, offset: .lastOffset, text: .last, in: &container)
        try container.encodeIfPresent(previous?.text, forKey: .previous)
        try container.encodeIfPresent(first?.text, forKey: .first)
        try container.encode(modelName, forKey: .modelName)
        if !tags.isEmpty { try container.encode(tags, forKey: .tags) }
        if let details { try container.encode(details.json, forKey: .details) }
        if isUnordered { try container.encode(true, forKey: .isUnordered) }
        var states = encoder.container(keyedBy: EntryState.CodingKeys.self)
        try state.encode(to: &states)
    }

    private static let newline = UInt8(ascii: "\n")

    private static func ids(in lines: String) -> [String] {
        var lines = lines
        return lines.withUTF8 { bytes in
            var ids: [String] = []
            var start = 0
            for end in 0...bytes.count where end == bytes.count || bytes[end] == newline {
                if start < end { ids.append(String(decoding: bytes[start..<end], as: UTF8.self)) }
                start = end + 1
            }
            return ids
        }
    }

    /// The identities as lines of one text; `nil` where one of them is not one line.
    private var lines: String? {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(ids.count * 16)
        for index in ids.indices {
            if index > 0 { bytes.append(Self.newline) }
            let start = bytes.count
            bytes += ids[index].utf8
            if bytes.count == start || bytes[start...].contains(Self.newline) { return nil }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    private static func cursor(
        offset: CodingKeys,
        text: CodingKeys,
        in container: KeyedDecodingContainer<CodingKeys>
    ) throws -> PageCursor? {
        if let offset = try container.decodeIfPresent(Int.self, forKey: offset) { return .offset(offset) }
        return try container.decodeIfPresent(String.self, forKey: text).map { PageCursor($0) }
    }

    private static func encode(
        _ cursor: PageCursor?,
        offset: CodingKeys,
        text: CodingKeys,
        in container: inout KeyedEncodingContainer<CodingKeys>
    ) throws {
        if let number = cursor?.offset {
            try container.encode(number, forKey: offset)
        } else {
            try container.encodeIfPresent(cursor?.text, forKey: text)
        }
    }
}

// How pages become one list.
extension ListRecord {
    /// Puts a new first page in the place of the former one.
    ///
    /// Where the page ends with a former element, and has all former elements before that one, the others stay after it:
    /// a list that was scrolled down loses nothing. Otherwise unknown elements may be in between, so the former elements
    /// go, and the list continues with the page's cursor. They go as well where the server refused the list's cursor. The
    /// elements of pages in front stay where the page begins with a former element.
    mutating func replaceFirstPage(with page: [String], next: PageCursor?, previous: PageCursor? = nil) {
        let page = Self.distinct(page)
        let count = ids.count
        let start = first == nil ? nil : page.first.flatMap(ids.firstIndex)
        if start == nil { (self.previous, first) = (previous?.opaque, nil) }
        let fresh = Set(page)
        let head = ids[..<(start ?? 0)].filter { !fresh.contains($0) }
        let tail = next == nil || self.next == nil && last == nil ? [] : tail(behind: page, from: start ?? 0)
        ids = head + page + tail
        if tail.isEmpty {
            (self.next, last) = (next, nil)
        } else {
            moveOffset(from: count)
            reopenEnd()
        }
    }

    /// Has the last page be asked for once more, where the list was read to its end: it may have grown there, of which its
    /// first page tells nothing.
    mutating func reopenEnd() {
        guard next == nil, let last else { return }
        next = last.offset.map { .offset(min($0, ids.count)) } ?? last
    }

    /// The former elements that stay after a new first page.
    private func tail(behind page: [String], from start: Int) -> [String] {
        let fresh = Set(page)
        let known = ids[start...].prefix(while: fresh.contains)
        guard let last = page.last, known.contains(last) else { return [] }
        return ids[known.endIndex...].filter { !fresh.contains($0) }
    }

    /// Adds a page at an end of the list. Elements that are there already stay where they are.
    ///
    /// - Parameters:
    ///   - cursor: where the page was asked for.
    ///   - further: the cursor of the page beyond it.
    ///   - changes: the list's changes since the page was requested. Elements that they remove are left out.
    mutating func add(
        _ page: [String],
        at end: ListEnd,
        from cursor: PageCursor,
        further: PageCursor?,
        after changes: [RecentChanges.Change]
    ) {
        let left = Self.distinct(left(of: page, after: changes))
        // A set of the page, not of the list: that may be many times as long.
        let new = Set(left)
        let known = Set(ids.lazy.filter(new.contains))
        ids.insert(contentsOf: left.filter { !known.contains($0) }, at: end == .back ? ids.endIndex : 0)
        // A page without new elements that leads to itself would be asked for without end.
        let isStuck = further == cursor && known.count == new.count
        setCursor(isStuck ? nil : further, at: end, from: cursor)
    }

    /// The cursor of the page beyond an end.
    func cursor(at end: ListEnd) -> PageCursor? { end == .back ? next : previous }

    /// - Parameter last: the cursor of the page at that end.
    mutating func setCursor(_ cursor: PageCursor?, at end: ListEnd, from last: PageCursor?) {
        if end == .back {
            (next, self.last) = (cursor, last)
        } else {
            (previous, first) = (cursor?.opaque, last?.opaque)
        }
    }

    /// The elements of a page that are left when changes have run over it.
    private func left(of page: [String], after changes: [RecentChanges.Change]) -> [String] {
        if changes.isEmpty { return page }
        var changed = self
        changed.ids = page
        let left = Set(Layers.apply(changes, to: changed)?.ids ?? [])
        return page.filter(left.contains)
    }

    /// Puts an element at a place, and takes it from the one that it had.
    mutating func insert(_ id: String, at place: ListPlace) {
        let count = ids.count
        ids.removeAll { $0 == id }
        switch place.base {
        case .start: ids.insert(id, at: 0)
        case .end: ids.append(id)
        case .index(let index): ids.insert(id, at: min(max(0, index), ids.count))
        case .before(let other): ids.insert(id, at: ids.firstIndex(of: other) ?? 0)
        case .after(let other): ids.insert(id, at: ids.firstIndex(of: other).map { $0 + 1 } ?? ids.count)
        }
        moveOffset(from: count)
    }

    /// Puts an element in the place of another one.
    mutating func replace(_ id: String, by other: String) {
        guard let place = ids.firstIndex(of: id) else { return }
        if ids.contains(other) { return remove(id) }
        ids[place] = other
    }

    mutating func remove(_ id: String) {
        let count = ids.count
        ids.removeAll { $0 == id }
        moveOffset(from: count)
    }

    /// The time of a list that no answer has brought.
    static var never: Date { Date(timeIntervalSinceReferenceDate: 0) }

    /// Tells that the program has changed the list: an answer that was asked for before does not take that back.
    mutating func markChanged(
        at revision: Revision,
        in scopes: [InvalidationScope],
        _ bookkeeping: Bookkeeping,
        now: Date
    ) {
        state = bookkeeping.changed(state, to: revision, at: now, in: scopes)
        state.validators = nil
    }

    /// Moves a cursor that counts elements with their number: the server is told of the change as well.
    ///
    /// An offset that is too small gives elements twice, which are left out; one that is too large loses elements. So an
    /// offset above the number of known elements does not move up: it may count the new ones already.
    private mutating func moveOffset(from count: Int) {
        guard let offset = next?.offset else { return }
        let added = ids.count - count
        if added < 0 {
            next = .offset(max(0, max(0, offset) + added))
        } else if offset < ids.count {
            next = .offset(min(offset + added, ids.count))
        }
    }

    /// The cursor of the page after the last element. An offset leaves out elements that unconfirmed changes remove: the
    /// server may have removed them already.
    ///
    /// - Parameter shown: the list with these changes.
    func cursor(under shown: ListRecord) -> PageCursor? {
        guard let offset = next?.offset, shown.ids != ids else { return next }
        let left = Set(shown.ids)
        return .offset(max(0, max(0, offset) - ids.count { !left.contains($0) }))
    }

    private static func distinct(_ ids: [String]) -> [String] {
        var seen = Set<String>()
        return ids.filter { seen.insert($0).inserted }
    }
}

/// A place in a list.
public struct ListPlace: Hashable, Sendable {
    enum Base: Hashable {
        case start, end
        case index(Int)
        case before(String)
        case after(String)
    }

    let base: Base

    /// Before the first element.
    public static let start = ListPlace(base: .start)
    /// After the last element that is known.
    public static let end = ListPlace(base: .end)
    /// At an index; one beyond the list's ends counts as the end.
    public static func index(_ index: Int) -> ListPlace { ListPlace(base: .index(index)) }
    /// Before an element; at the start if that is not in the list.
    public static func before(_ id: some ModelID) -> ListPlace { ListPlace(base: .before(id.cacheKey)) }
    /// After an element; at the end if that is not in the list.
    public static func after(_ id: some ModelID) -> ListPlace { ListPlace(base: .after(id.cacheKey)) }
}
