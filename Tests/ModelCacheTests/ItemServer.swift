import Foundation
import ModelCache
import Synchronization
import TestSupport
import TypedCache

/// A model whose versions only go up on its server, and whose type has little room.
struct Item: CachedModel {
    static let modelName = "item"
    static let policy = ModelPolicy(
        freshness: .seconds(100),
        expiration: .after(.seconds(400)),
        memory: MemorySettings(byteLimit: .kibibytes(4)),
        disk: .kibibytes(16)
    )

    let id: Int
    var version: Int
    /// Words of this version alone, which do not shrink.
    var words: String

    init(_ id: Int, _ version: Int) {
        self.id = id
        self.version = version
        words = Self.words(id, version)
    }

    static func words(_ id: Int, _ version: Int) -> String {
        var generator = SeededGenerator(seed: id &* 10_007 &+ version)
        return (0..<30).map { _ in String(UInt64.random(in: 0 ... .max, using: &generator)) }.joined()
    }

    static func request(for id: Int) -> ModelRequest { .get("/items", id) }
    static func request(for ids: [Int]) -> ModelRequest? {
        .get("/items", query: ["ids": ids.map(String.init).joined(separator: ",")])
    }
}

/// All items, the newest first, with older ones after them.
struct NewestItems: ModelList {
    typealias Element = Item
    var listKey: String { "newest" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/list", query: ["below": cursor?.text]) }
    func page(in body: ModelBody) throws -> ModelPage<Item> {
        try body.page(items: "items", next: .optional("further"))
    }
}

/// All items, the newest last, with older ones in front of them.
struct LatestItems: ModelList {
    typealias Element = Item
    var listKey: String { "latest" }
    func request(after cursor: PageCursor?) -> ModelRequest { .get("/list", query: ["reversed": "1"]) }
    func request(before cursor: PageCursor) -> ModelRequest {
        .get("/list", query: ["reversed": "1", "below": cursor.text])
    }
    func page(in body: ModelBody) throws -> ModelPage<Item> {
        try body.page(items: "items", previous: .optional("further"))
    }
}

/// A server of items, some of whose answers wait until a test releases them.
final class ItemServer: ModelTransport {
    struct Refused: Error {}

    private struct Answer: Encodable {
        var items: [Item]
        var further: Int?
    }

    private struct State {
        var generator: SeededGenerator
        var versions: [Int: Int] = [:]
        /// The items' places in the list, the oldest first.
        var places: [(place: Int, id: Int)] = []
        var lastVersion = 0
        var isOpen = false
        var held: [CheckedContinuation<Void, Never>] = []

        mutating func nextVersion() -> Int {
            lastVersion += 1
            return lastVersion
        }
    }

    private static let pageSize = 4
    private let state: Mutex<State>

    init(seed: Int, count: Int) {
        var state = State(generator: SeededGenerator(seed: seed))
        for id in 1...count {
            state.versions[id] = state.nextVersion()
            state.places.append((id, id))
        }
        self.state = Mutex(state)
    }

    // MARK: Looking

    var versions: [Int: Int] { state.withLock { $0.versions } }
    /// The identities of the list, the newest first.
    var order: [Int] { state.withLock { $0.places.reversed().map(\.id) } }
    var heldCount: Int { state.withLock { $0.held.count } }

    // MARK: Changing

    func nextVersion() -> Int { state.withLock { $0.nextVersion() } }

    /// Puts a version, of a new item at the front of the list.
    func put(_ id: Int, _ version: Int) {
        state.withLock { state in
            if state.versions.updateValue(version, forKey: id) == nil {
                state.places.append(((state.places.last?.place ?? 0) + 1, id))
            }
        }
    }

    func delete(_ id: Int) {
        state.withLock { state in
            state.versions[id] = nil
            state.places.removeAll { $0.id == id }
        }
    }

    /// Takes a change, and answers: each at once or later.
    func take(isRefused: Bool, _ change: @Sendable () -> Void) async throws {
        await wait()
        if isRefused { throw Refused() }
        change()
        await wait()
    }

    // MARK: Answering

    func send(_ request: ModelRequest) async throws -> ModelResponse {
        let response = try answer(to: request)
        await wait()
        try Task.checkCancellation()
        return response
    }

    private func answer(to request: ModelRequest) throws -> ModelResponse {
        let query = Dictionary(uniqueKeysWithValues: request.query.map { ($0.name, $0.value ?? "") })
        let (versions, places) = state.withLock { ($0.versions, $0.places) }
        func item(_ id: Int) -> Item? { versions[id].map { Item(id, $0) } }
        if let ids = query["ids"] {
            let items = ids.split(separator: ",").compactMap { Int($0) }.compactMap(item)
            return ModelResponse(body: try JSONEncoder().encode(items))
        }
        if request.path == "/list" {
            let limit = query["below"].flatMap { Int($0) } ?? .max
            let older = places.filter { $0.place < limit }
            let page = older.suffix(Self.pageSize)
            let items = page.compactMap { item($0.id) }
            let further = older.count > page.count ? page.first?.place : nil
            let answer = Answer(items: query["reversed"] == nil ? items.reversed() : items, further: further)
            return ModelResponse(body: try JSONEncoder().encode(answer))
        }
        guard let id = request.path.split(separator: "/").last.flatMap({ Int($0) }), let item = item(id) else {
            return ModelResponse(status: 404)
        }
        return ModelResponse(body: try JSONEncoder().encode(item))
    }

    private func wait() async {
        await withCheckedContinuation { continuation in
            let isHeld = state.withLock { state in
                guard !state.isOpen, Int.random(in: 0..<3, using: &state.generator) == 0 else { return false }
                state.held.append(continuation)
                return true
            }
            if !isHeld { continuation.resume() }
        }
    }

    /// Lets one of those that wait go on.
    func releaseOne() {
        let released = state.withLock { state -> CheckedContinuation<Void, Never>? in
            guard !state.held.isEmpty else { return nil }
            return state.held.remove(at: Int.random(in: state.held.indices, using: &state.generator))
        }
        released?.resume()
    }

    /// Lets all go on.
    ///
    /// - Parameter isOpen: whether later ones do not wait either.
    func releaseAll(isOpen: Bool) {
        let held = state.withLock { state in
            state.isOpen = isOpen
            defer { state.held = [] }
            return state.held
        }
        for continuation in held { continuation.resume() }
    }
}
