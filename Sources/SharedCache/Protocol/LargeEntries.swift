import ArchiveStore
import RedisWire

// Large entries go over the connection in parts, for a part holds up all calls that come after it. Each part is a step of
// its call, between which other calls go on.

/// Reads whole entries. Of a value that is longer than the largest entry, and so was written by another program, it reads
/// no more than a part beyond that.
///
/// An entry that has no end in its first part is read again, part by part: it may be another one by then. Its last bytes
/// tell each save from every other one, so the parts belong together if it ended the same before the first of them was read.
struct ReadEntries: EntryCall {
    /// The answer for a key, which may be a refusal, and the place of its entry.
    struct Found {
        let name: String
        var value: RedisValue
    }

    let keys: [StoreKey]
    let action = EngineEntry.reading
    private var found: [Found] = []
    /// The places of the entries that are to be read part by part; the first of them is being read.
    private var large: ArraySlice<Int> = []
    /// The last bytes of that entry before its parts were read; `nil` before they are known.
    private var end: [UInt8]?
    private var bytes: [UInt8] = []

    init(_ keys: [StoreKey]) { self.keys = keys }

    var outcomeWithoutGeneration: [Found]? { keys.map { _ in Found(name: "", value: .null) } }

    mutating func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        let start = names.start(generation)
        found = keys.map { Found(name: EntryNames.entry($0.string, startingWith: start), value: .null) }
        (large, end, bytes) = ([], nil, [])
        return found.map { Self.firstPart(of: $0.name) }
    }

    /// Reads the whole of an entry that is not large.
    static func firstPart(of name: String) -> RedisCommand { part(of: name, from: 0) }

    private static func part(of name: String, from start: Int) -> RedisCommand {
        ["GETRANGE", .text(name), .integer(start), .integer(start + EngineEntry.partByteCount - 1)]
    }

    mutating func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<[Found]> {
        guard let place = large.first else {
            for (place, answer) in zip(found.indices, answers) { found[place].value = answer }
            large = found.indices.filter { Self.isFull(found[$0].value) }[...]
            return next
        }
        if end == nil { end = answers[0].bytes }
        guard let answer = answers.last, let part = answer.bytes else {
            found[place].value = answers.last ?? .null
            return goOn()
        }
        bytes += part
        if Self.isFull(answer), bytes.count <= EngineEntry.largestByteCount { return next }
        guard let end, bytes.suffix(end.count).elementsEqual(end) || bytes.count > EngineEntry.largestByteCount
        else { return .again }
        found[place].value = .bulk(bytes)
        return goOn()
    }

    private static func isFull(_ value: RedisValue) -> Bool { value.bytes?.count == EngineEntry.partByteCount }

    /// Goes on to the next large entry.
    private mutating func goOn() -> EntryStep<[Found]> {
        (large, end, bytes) = (large.dropFirst(), nil, [])
        return next
    }

    private var next: EntryStep<[Found]> {
        guard let place = large.first else { return .done(found) }
        let name = found[place].name
        let part = Self.part(of: name, from: bytes.count)
        if end != nil { return .send([part]) }
        return .send([["GETRANGE", .text(name), .integer(-EntryEnd.byteCount), -1], part])
    }
}

/// Sends the parts of large entries, and then makes a call that saves them.
struct SendingParts<Call: EngineCall>: EngineCall {
    /// Parts that nothing saves, because their process has died, say, stay no longer.
    private static var milliseconds: Int { 60_000 }

    private(set) var call: Call
    private let news: [NewEntry]
    /// The entry whose parts are being sent, and how many of them were.
    private var place = 0
    private var sentCount = 0

    init(_ news: [NewEntry], _ call: Call) {
        self.news = news
        self.call = call
    }

    /// For one entry, which mostly has no parts: then no array is made.
    init(_ new: NewEntry, _ call: Call) { self.init(new.parts.isEmpty ? [] : [new], call) }

    var action: String { call.action }

    mutating func next(
        _ answers: [RedisValue],
        _ view: SharedView
    ) throws(StoreError) -> EngineStep<Call.Outcome> {
        if place < news.count {
            for answer in answers { try Engine.checkSet(answer, doing: action) }
            while place < news.count, sentCount == news[place].parts.count { (place, sentCount) = (place + 1, 0) }
            if place < news.count {
                sentCount += 1
                return .send([Self.command(for: news[place], part: sentCount - 1)])
            }
            return try call.next([], view)
        }
        return try call.next(answers, view)
    }

    private static func command(for new: NewEntry, part number: Int) -> RedisCommand {
        let size = EngineEntry.partByteCount
        let bytes = Array(new.bytes[number * size..<min((number + 1) * size, new.bytes.count)])
        return ["SET", .text(new.parts[number]), .bytes(bytes), "PX", .integer(milliseconds)]
    }

    func failed(_ error: StoreError, _ view: SharedView) { call.failed(error, view) }
}
