import ArchiveStore
import Foundation
import RedisWire
import Synchronization
import TypedCache

/// A Redis or Valkey server as the tier that many machines share.
///
/// ```swift
/// let tier = try SharedTier("redis://app:secret@10.0.0.1/?prefix=shop")
/// let cities = try Cache<City>(name: "cities", shared: tier, schema: 2)
/// ```
///
/// Caches keep the entries that they use in memory. The server tells of each change by others, and a heartbeat of each
/// second tells that no such message was missed; without one, memory answers nothing any more, and each fetch asks the
/// server. So no fetch gives a value that another machine has replaced or removed more than two seconds ago, see
/// ``SharedSettings/heartbeatDeadline``; usually it is one network delay.
///
/// Calls for all keys share one connection. A call that gets no answer within the soft timeout throws
/// ``CacheError`` with code `.unreachable`; a save or removal that was not acknowledged leaves nothing to be read in this
/// process, and the server is told to remove the entry as soon as it answers again.
///
/// The server needs Redis 6.2 or Valkey 7.2, or later. The tier connects by itself, and again whenever it lost the
/// server.
public final class SharedTier: Sendable {
    let client: TrackedConnection
    let prefix: String
    let settings: SharedSettings
    let offset = ClockOffset()
    /// Tells this tier from others of the process.
    let identity = UUID().uuidString
    private let members: TierMembers
    private let upkeep: TierUpkeep
    private let engine: Engine

    /// Begins to connect.
    ///
    /// - Parameter url: `redis://[[user]:password@]host[:port][/database]` or `unix:/path/of.sock`, `valkey` in place of
    ///   `redis`; with the parameters `prefix` (the beginning of the names of all entries, 1 to 64 letters, digits, `.`,
    ///   `_` and `-`; `default` if there is none), `client_name`, `timeout`, `soft_timeout` and `connect_timeout` (such
    ///   as `500ms`, `2s`).
    /// - Throws: ``CacheError`` with code `.invalidServer` for a URL that cannot be used, which the message explains
    ///   without the password; `.unreachable` if the process has no descriptors left. A server that is down is no error
    ///   here.
    public init(_ url: String, _ settings: SharedSettings = SharedSettings()) throws(CacheError) {
        let wire = try Self.wire(url)
        prefix = EntryNames.prefix(wire.extras["prefix"] ?? "default")
        self.settings = settings
        let members = TierMembers(prefix: prefix)
        let upkeep = TierUpkeep(members: members, offset: offset)
        let breaker = Breaker()
        do throws(RedisError) {
            client = try TrackedConnection(
                to: wire.endpoints[0],
                settings: wire,
                prefixes: [prefix],
                heartbeat: ["GET", .text(prefix + "heartbeat")],
                interval: settings.heartbeatInterval
            ) { event in
                members.tell(event)
                if case .verified = event {
                    breaker.answered()
                    upkeep.start()
                }
            }
        } catch {
            throw CacheError.invalidServer(error.message)
        }
        self.members = members
        self.upkeep = upkeep
        engine = Engine(client, breaker)
        upkeep.setClient(client)
    }

    private static func wire(_ url: String) throws(CacheError) -> RedisSettings {
        do throws(RedisURLError) {
            let wire = try RedisURL(parameters: ["prefix"]).settings(of: url)
            if let prefix = wire.extras["prefix"] {
                let isPlain = prefix.utf8.allSatisfy {
                    (0x30...0x39).contains($0) || (0x41...0x5A).contains($0) || (0x61...0x7A).contains($0)
                        || "._-".utf8.contains($0)
                }
                guard isPlain, (1...64).contains(prefix.utf8.count) else {
                    throw RedisURLError("a prefix is 1 to 64 ASCII letters, digits, “.”, “_” and “-”")
                }
            }
            if wire.isCluster { throw RedisURLError("clusters are not supported yet") }
            if wire.usesTLS { throw RedisURLError("TLS is not supported yet") }
            guard wire.endpoints.count == 1 else { throw RedisURLError("more than one host is for clusters") }
            return wire
        } catch {
            throw CacheError.invalidServer(error.description)
        }
    }

    /// The store of one cache.
    func store(cache: String, schema: UInt32) -> SharedStore {
        let store = SharedStore(
            engine,
            EntryNames(prefix: prefix, cache: cache, schema: schema),
            offset: offset,
            window: settings.window,
            leaseDuration: settings.leaseDuration
        ) { [members] in members.tellOfRenewal(by: $0) }
        members.add(store)
        return store
    }

    /// Stands for a directory: caches of one place, in one process, agree without the server, which does not tell a
    /// client of its own changes.
    func place(cache: String, schema: UInt32) -> String { "\(identity) \(schema) \(cache)" }

    /// Whether memory may answer now: the server is connected, and has told of all changes.
    public var isVerified: Bool { members.isVerified(at: .now, settings.window) }

    /// The number of keys that the server is still to remove, because it did not acknowledge a save or removal.
    public var owedKeyCount: Int { members.all.reduce(0) { $0 + $1.view.withView { $0.debts.count } } }

    /// Ends the connection: later calls of caches on this tier throw ``CacheError`` with code `.closed`. Blocks while
    /// owed removals are sent, at most for a few timeouts.
    public func close() {
        for store in members.all { try? store.payDebts() }
        client.close()
    }
}
