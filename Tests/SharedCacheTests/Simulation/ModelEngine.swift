import RedisWire

/// A server that knows the commands of a shared tier, and nothing else: their meaning is that of Redis 7.
final class ModelEngine {
    struct Item: Equatable {
        var bytes: [UInt8]
        /// When it expires; `nil` for never.
        var end: Moment?
        /// Grows with each change: names have random parts, and no order that a seed repeats.
        var number = 0
    }

    enum Role { case master, replica, refusing, down }

    /// A variant of a server that is wrong on purpose.
    var keepsLeases = false
    /// The same.
    var hidesDeadlines = false
    /// A change of one name, after it was made.
    var changed: (_ name: String, _ new: Item?) -> Void = { _, _ in }

    let number: Int
    let events: EventQueue
    var role = Role.master
    private(set) var items: [String: Item] = [:]

    private struct Client {
        let push: (RedisValue) -> Void
        /// The client that is told of changes, and the beginnings of the names of which.
        var redirect: Int?
        var prefixes: [String] = []
        var isNoLoop = false
    }

    // In the order of their numbers, which is the order of their messages.
    private var clients: [(number: Int, client: Client)] = []
    private var lastClient = 0
    /// Names that were changed by the commands of this turn, each with the client that changed it by a plain command.
    private var touched: [(name: String, by: Int?)] = []
    private var changeCount = 0
    private var current: Int?
    private var isInScript = false
    private var scripts = ModelScripts()

    init(number: Int, _ events: EventQueue) {
        self.number = number
        self.events = events
    }

    // MARK: Connections

    /// - Parameter push: sends a message that answers no command.
    func connect(_ push: @escaping (RedisValue) -> Void) -> Int {
        lastClient += 1
        clients.append((lastClient, Client(push: push)))
        return lastClient
    }

    func disconnect(_ number: Int) { clients.removeAll { $0.number == number } }

    private func index(_ number: Int) -> Int? { clients.firstIndex { $0.number == number } }

    // MARK: Faults

    /// The process ends, with all that it has.
    func crash() {
        role = .down
        clients = []
        items = [:]
    }

    func removeAll() {
        let names = items.keys.sorted()
        items = [:]
        for name in names { changed(name, nil) }
        tellOfEverything()
    }

    /// Takes the place of its own items.
    func load(_ items: [String: Item]) {
        self.items = items
        tellOfEverything()
    }

    /// Takes a change of the master's.
    func replicate(_ name: String, _ new: Item?) { items[name] = new }

    private func tellOfEverything() {
        touched = []
        for (_, client) in clients {
            if let redirect = client.redirect, let index = index(redirect) {
                clients[index].client.push(.push([.bulk(Array("invalidate".utf8)), .null]))
            }
        }
    }

    /// Gives up an item for want of room.
    func evict(_ name: String) {
        put(name, nil)
        tell()
    }

    // MARK: Commands

    /// Executes commands of one client, one after another.
    func execute(_ commands: [RedisCommand], by client: Int) -> [RedisValue] {
        current = client
        defer { current = nil }
        return commands.map { execute($0, by: client) }
    }

    /// Tells clients of the changes that were made since this was called last.
    func tell() {
        if touched.isEmpty { return }
        let touched = touched
        self.touched = []
        for (number, client) in clients {
            guard let redirect = client.redirect, let index = index(redirect) else { continue }
            let names = touched.filter { name, writer in
                !(client.isNoLoop && writer == number) && client.prefixes.contains { name.hasPrefix($0) }
            }
            if names.isEmpty { continue }
            var told: [RedisValue] = []
            for (name, _) in names where !told.contains(.bulk(Array(name.utf8))) {
                told.append(.bulk(Array(name.utf8)))
            }
            clients[index].client.push(.push([.bulk(Array("invalidate".utf8)), .array(told)]))
        }
    }

    private func execute(_ command: RedisCommand, by client: Int) -> RedisValue {
        let words = command.arguments
        switch command.name {
        case "PING": return .simple("PONG")
        case "CLIENT": return configure(client, words)
        case "TIME":
            let clock = events.now + Self.start
            return .array([.bulk(Self.digits(clock / 1_000_000)), .bulk(Self.digits(clock % 1_000_000))])
        default: break
        }
        switch role {
        case .master: break
        case .replica: return .error(RedisReplyError(message: "MOVED 1 127.0.0.1:1"))
        case .refusing, .down: return .error(RedisReplyError(message: "CLUSTERDOWN The cluster is down"))
        }
        switch command.name {
        case "GET": return item(text(words[1])).map { .bulk($0.bytes) } ?? .null
        case "STRLEN": return .integer(Int64(item(text(words[1]))?.bytes.count ?? 0))
        case "GETRANGE" where number(words[2]) == 0:
            return .bulk(Array(item(text(words[1]))?.bytes.prefix(number(words[3]) + 1) ?? []))
        case "GETRANGE": return .bulk(end(text(words[1]), -number(words[2])))
        case "SET": return set(words)
        case "DEL", "UNLINK": return .integer(remove(text(words[1])) ? 1 : 0)
        case "KEYS": return .array(items.keys.filter { item($0) != nil }.sorted().map { .bulk(Array($0.utf8)) })
        case "EVAL": return run(words)
        default: preconditionFailure("the model knows no \(command.name)")
        }
    }

    /// The seconds since 1970 at the beginning of a simulation, in microseconds.
    static let start: Moment = 1_800_000_000_000_000
    private static func digits(_ number: Moment) -> [UInt8] { Array(String(number).utf8) }

    private func configure(_ client: Int, _ words: [RedisCommand.Argument]) -> RedisValue {
        guard let index = index(client) else { return .error(RedisReplyError(message: "ERR gone")) }
        switch text(words[1]) {
        case "KILL":
            disconnect(number(words[3]))
            killed(number(words[3]))
            return .integer(1)
        case "TRACKING" where text(words[2]) == "OFF":
            clients[index].client.redirect = nil
            clients[index].client.prefixes = []
        case "TRACKING":
            let redirect = number(words[4])
            guard self.index(redirect) != nil else { return .error(RedisReplyError(message: "ERR no such client")) }
            clients[index].client.redirect = redirect
            clients[index].client.isNoLoop = words.contains { text($0) == "NOLOOP" }
            clients[index].client.prefixes = words.indices.filter { text(words[$0]) == "PREFIX" }
                .map { text(words[$0 + 1]) }
        default: preconditionFailure("the model knows no CLIENT \(text(words[1]))")
        }
        return .simple("OK")
    }

    /// Called with the client of each connection that the server ends.
    var killed: (Int) -> Void = { _ in }

    // MARK: Items

    func item(_ name: String) -> Item? {
        guard let item = items[name] else { return nil }
        guard let end = item.end, end <= events.now else { return item }
        put(name, nil)
        return nil
    }

    func end(_ name: String, _ count: Int) -> [UInt8] { Array(item(name)?.bytes.suffix(count) ?? []) }

    func put(_ name: String, _ new: Item?) {
        if new == nil, items[name] == nil { return }
        changeCount += 1
        var new = new
        new?.number = changeCount
        items[name] = new
        touched.append((name, isInScript ? nil : current))
        changed(name, new)
        guard let end = new?.end else { return }
        // Expired items are found after a while, or when they are read.
        let number = changeCount
        events.at(end + events.moment(0...20_000)) { [weak self] in
            guard let self, items[name]?.number == number, role == .master else { return }
            put(name, nil)
            tell()
        }
    }

    /// Changes an entry where its deadline is moved.
    func move(_ name: String, _ new: Item) {
        let told = touched.count
        put(name, new)
        if hidesDeadlines { touched.removeLast(touched.count - told) }
    }

    func remove(_ name: String) -> Bool {
        if keepsLeases, name.hasPrefix("tcl:") { return false }
        guard item(name) != nil else { return false }
        put(name, nil)
        return true
    }

    private func set(_ words: [RedisCommand.Argument]) -> RedisValue {
        let name = text(words[1])
        var end: Moment?
        var index = 3
        while index < words.count {
            switch text(words[index]) {
            case "NX": if item(name) != nil { return .null }
            case "PX":
                index += 1
                end = events.now + Moment(number(words[index])) * 1_000
            default: preconditionFailure("the model knows no such SET")
            }
            index += 1
        }
        put(name, Item(bytes: bytes(words[2]), end: end))
        return .simple("OK")
    }

    private func run(_ words: [RedisCommand.Argument]) -> RedisValue {
        let count = number(words[2])
        let script = ModelScripts.Script(
            keys: words[3..<(3 + count)].map { text($0) },
            words: words[(3 + count)...].map { bytes($0) }
        )
        isInScript = true
        defer { isInScript = false }
        return scripts.run(text(words[1]), script, on: self)
    }

    // MARK: Arguments

    private func text(_ word: RedisCommand.Argument) -> String {
        switch word {
        case .text(let text): text
        case .bytes(let bytes): String(decoding: bytes, as: UTF8.self)
        case .integer(let number): String(number)
        }
    }

    private func bytes(_ word: RedisCommand.Argument) -> [UInt8] {
        switch word {
        case .text(let text): Array(text.utf8)
        case .bytes(let bytes): bytes
        case .integer(let number): Array(String(number).utf8)
        }
    }

    private func number(_ word: RedisCommand.Argument) -> Int {
        if case .integer(let number) = word { number } else { Int(text(word)) ?? 0 }
    }
}
