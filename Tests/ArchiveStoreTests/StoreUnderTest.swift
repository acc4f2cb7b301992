import Foundation
import RedisServers
import RedisWire
import Sealing
import SharedCache
import StoreTrials
import TestSupport

@testable import ArchiveStore

/// A kind of store that the laws are checked with.
enum StoreUnderTest: CaseIterable {
    case reference
    case file
    /// All keys of a file store share three names.
    case collidingFile
    /// A file store with deferred saves.
    case behind
    /// As `behind`, with room for hardly anything.
    case narrowBehind
    /// A file store with limits that are never reached, so that it keeps a journal.
    case limitedFile
    case collidingLimitedFile
    case packed
    /// All keys of a packed store share three hashes.
    case collidingPacked
    /// A packed store of many small segments, which drops the first ones all the time.
    case limitedPacked
    case packedBehind
    /// Stores that compress nothing, or all of it as far as zlib can.
    case uncompressedFile
    case uncompressedPacked
    case hardestPacked
    /// Stores whose files are encrypted.
    case sealedPacked
    case sealedLimitedPacked
    case sealedFile
    case sealedCollidingFile
    case sealedLimitedFile
    case sealedBehind
    case memory
    /// A store in memory with limits that are never reached.
    case limitedMemory
    /// A store on a server, where there is one.
    case shared
    /// One with copies on the disk.
    case tiered
    /// A store on three masters of a cluster.
    case clustered
    /// One with copies on the disk, in long runs.
    case clusteredTiered

    static let allCases: [StoreUnderTest] = allStores.filter {
        switch $0 {
        case .shared, .tiered, .clustered: RedisServer.isInstalled
        case .sealedPacked, .sealedLimitedPacked, .sealedFile, .sealedCollidingFile, .sealedLimitedFile,
            .sealedBehind:
            CipherAlgorithm.isAvailable
        case .clusteredTiered: RedisServer.isInstalled && isLongRun
        default: true
        }
    }

    private static let allStores: [StoreUnderTest] = [
        .reference, .file, .collidingFile, .behind, .narrowBehind, .limitedFile, .collidingLimitedFile, .packed,
        .collidingPacked, .limitedPacked, .packedBehind, .uncompressedFile, .uncompressedPacked, .hardestPacked,
        .sealedPacked, .sealedLimitedPacked, .sealedFile, .sealedCollidingFile, .sealedLimitedFile, .sealedBehind,
        .memory, .limitedMemory, .shared, .tiered, .clustered, .clusteredTiered,
    ]

    private var settings: StoreSettings {
        var settings = StoreSettings()
        if self == .limitedPacked || self == .sealedLimitedPacked { settings.byteLimit = 1 << 20 }
        switch self {
        case .sealedPacked, .sealedLimitedPacked, .sealedFile, .sealedCollidingFile, .sealedLimitedFile,
            .sealedBehind:
            settings.keys = .of(TrialKeys.one)
        default: break
        }
        if [.limitedFile, .collidingLimitedFile, .sealedLimitedFile].contains(self) {
            settings.byteLimit = 1 << 30
            settings.countLimit = 1 << 20
            settings.minimumFreeByteCount = 1
        }
        switch self {
        case .uncompressedFile, .uncompressedPacked: settings.compression = .stored
        case .hardestPacked: settings.compression = .level(9)
        default: break
        }
        return settings
    }

    /// Has `body` run with a function that opens one and the same place each time it is called.
    func withPlace(_ body: (_ open: () throws -> any ArchiveStore) throws -> Void) throws {
        switch self {
        case .reference:
            let store = ReferenceStore()
            try body { store }
        case .memory:
            let store = MemoryStore(byteLimit: nil, countLimit: nil)
            try body { store }
        case .limitedMemory:
            let store = MemoryStore(byteLimit: 1 << 30, countLimit: 1 << 20)
            try body { store }
        case .shared: try Self.withServer { try Self.withSharedPlace($0, body) }
        case .tiered: try Self.withServer { try Self.withTieredPlace($0, body) }
        case .clustered: try Self.withCluster { try Self.withSharedPlace($0, body) }
        case .clusteredTiered: try Self.withCluster { try Self.withTieredPlace($0, body) }
        case .file, .limitedFile, .uncompressedFile, .sealedFile, .sealedLimitedFile:
            try withTemporaryDirectory { path in
                try body { try FileStore(directory: path + "/cache", create: true, settings: settings) }
                try checkLedger(path + "/cache")
            }
        case .packed, .limitedPacked, .uncompressedPacked, .hardestPacked, .sealedPacked, .sealedLimitedPacked:
            try withTemporaryDirectory { path in
                try body { try PackedStore(directory: path + "/cache", create: true, settings: settings) }
            }
        case .collidingPacked:
            try withTemporaryDirectory { path in
                try body {
                    try PackedStore(directory: path + "/cache", create: true, settings: settings) { key in
                        KeyDigest(high: UInt64(key.reduce(0, ^) % 3), low: KeyDigest(hashing: key).low)
                    }
                }
            }
        case .behind:
            try Self.withPlaceBehind(byteLimit: 1 << 20, body) { try FileStore(directory: $0, create: true) }
        case .narrowBehind:
            try Self.withPlaceBehind(byteLimit: 1_000, body) { try FileStore(directory: $0, create: true) }
        case .packedBehind:
            try Self.withPlaceBehind(byteLimit: 1 << 20, body) { try PackedStore(directory: $0, create: true) }
        case .sealedBehind:
            let settings = settings
            try Self.withPlaceBehind(byteLimit: 1 << 20, body) {
                try FileStore(directory: $0, create: true, settings: settings)
            }
        case .collidingFile, .collidingLimitedFile, .sealedCollidingFile:
            try withTemporaryDirectory { path in
                try body {
                    try FileStore(directory: path + "/cache", create: true, settings: settings) { key in
                        EntryName(high: 0xab << 56, low: UInt64(key.bytes.reduce(0, ^) % 3))
                    }
                }
                try checkLedger(path + "/cache")
            }
        }
    }

    private static func withServer(_ body: (any RedisClient) throws -> Void) throws {
        guard let server = RedisServer.common else { return }
        try body(try RedisConnection(to: server.socket, settings: patient([server.socket])))
    }

    private static func withCluster(_ body: (any RedisClient) throws -> Void) throws {
        guard let cluster = RedisCluster.common else { return }
        let client = ClusterClient(settings: patient(cluster.endpoints))
        defer { client.close() }
        try body(client)
    }

    private static func patient(_ endpoints: [RedisEndpoint]) -> RedisSettings {
        var settings = RedisSettings(endpoints: endpoints)
        settings.timeouts = .patient
        return settings
    }

    private static func withSharedPlace(
        _ client: any RedisClient,
        _ body: (_ open: () throws -> any ArchiveStore) throws -> Void
    ) throws {
        let prefix = "tc:\(UUID().uuidString):"
        try body { SharedStore(client, prefix: prefix, cache: "cache", schema: 1) }
    }

    private static func withTieredPlace(
        _ client: any RedisClient,
        _ body: (_ open: () throws -> any ArchiveStore) throws -> Void
    ) throws {
        let prefix = "tc:\(UUID().uuidString):"
        try withTemporaryDirectory { path in
            try body {
                TieredStore(
                    near: try PackedStore(directory: path + "/cache", create: true),
                    shared: SharedStore(client, prefix: prefix, cache: "cache", schema: 1)
                )
            }
        }
    }

    private static func withPlaceBehind(
        byteLimit: Int,
        _ body: (_ open: () throws -> any ArchiveStore) throws -> Void,
        below: @escaping (_ directory: String) throws -> any ArchiveStore
    ) throws {
        try withTemporaryDirectory { path in
            var former: WriteBehindStore?
            // Deferred saves belong to the store until it is flushed or closed.
            func flushFormer() throws {
                do throws(StoreError) {
                    try former?.flush()
                } catch {
                    guard error.code == .closed else { throw error }
                }
            }
            try body {
                try flushFormer()
                let store = WriteBehindStore(over: try below(path + "/cache"), byteLimit: byteLimit)
                former = store
                return store
            }
            try flushFormer()
        }
    }
}
