import ArchiveStore
import Foundation
import RedisWire

/// The place of a key's entry in the engine, and the reading of the bytes that are there.
struct EngineEntry {
    /// The largest archive, in bytes.
    static let archiveByteLimit = 8 << 20
    /// Entries are sent and read in parts of so many bytes, for a part holds up all calls of its connection.
    static let partByteCount = 256 << 10
    /// No entry of this package has more bytes.
    static let largestByteCount = EntryFile.largestByteCount(forArchiveOf: archiveByteLimit)
    static let reading = "reading an entry"

    let key: StoreKey
    let name: String
    let clock: EngineClock
    /// Opens the archives of its cache; `nil` if they are not encrypted.
    var sealing: ValueSealing?

    /// The bytes of an answer; `nil` if there is nothing, which `GETRANGE` answers by no bytes.
    static func bytes(_ value: RedisValue, _ action: String) throws(StoreError) -> [UInt8]? {
        try Engine.check(value, doing: action)
        guard let bytes = value.bytes, !bytes.isEmpty else { return nil }
        return bytes
    }

    func archive(in bytes: [UInt8]) throws(StoreError) -> StoredArchive {
        let limit = Self.archiveByteLimit
        let file = try checked(bytes) { () throws(EntryFault) in try EntryFile(verifying: bytes) }
        let information = try information(file, byteCount: bytes.count)
        let value = try checked(bytes) { () throws(EntryFault) in try file.archive(limit: limit) }
        return StoredArchive(archive: try opened(value), information: information)
    }

    /// The archive in a value that was saved with this cache's settings.
    private func opened(_ value: [UInt8]) throws(StoreError) -> [UInt8] {
        func failure(_ code: StoreError.Code, _ reason: String) -> StoreError {
            StoreError(code, path: name, action: Self.reading, reason: reason)
        }
        guard let sealing else {
            if ValueSealing.isSealed(value) { throw failure(.locked, "it is encrypted, and no key was given") }
            return value
        }
        do throws(ValueSealing.Fault) {
            return try sealing.open(value, for: key, limit: Self.archiveByteLimit)
        } catch {
            switch error {
            case .notEncrypted: throw failure(.foreign, "it is not encrypted, and the cache's values are")
            case .locked(let reason): throw failure(.locked, reason)
            case .damaged: throw failure(.corrupted, "it was not encrypted for this entry, or was changed")
            case .unsupported(let version):
                throw failure(.unsupportedVersion, "the value is encrypted in version \(version)")
            }
        }
    }

    /// The most bytes that a server's value may have.
    private static let largestValueByteCount = 512 << 20

    /// The information of an entry, of which only the last bytes are known.
    ///
    /// - Parameter byteCount: the value's length, as the server says it.
    func information(ofTail tail: [UInt8], byteCount: Int) throws(StoreError) -> EntryInformation {
        guard tail.count <= byteCount, byteCount <= Self.largestValueByteCount else {
            let reason = "the server says that a value has \(byteCount) bytes"
            throw StoreError(.foreign, path: name, action: Self.reading, reason: reason)
        }
        let file = try checked(tail) { () throws(EntryFault) in
            try EntryFile(tail: tail, fileByteCount: byteCount, checksum: nil)
        }
        return try information(file, byteCount: byteCount)
    }

    private func information(_ file: EntryFile, byteCount: Int) throws(StoreError) -> EntryInformation {
        guard file.holds(key), let identity = EntryIdentity(file.attributes) else {
            let reason = "the entry is another key's, or was not saved for a server"
            throw StoreError(.foreign, path: name, action: Self.reading, reason: reason)
        }
        return EntryInformation(
            key: key.string,
            attributes: clock.here(file.attributes),
            archiveByteCount: file.archiveByteCount,
            storedByteCount: byteCount,
            identity: identity
        )
    }

    /// Removes a damaged entry, if it still ends with the same bytes.
    func removal(of bytes: [UInt8]) -> RedisCommand {
        EntryScript(name: name).remove(ifEnding: bytes.suffix(EntryEnd.byteCount), endsLease: false)
    }

    /// - Throws: `.foreign` for bytes that do not end as an entry does.
    private func checked<Result>(
        _ bytes: [UInt8],
        _ body: () throws(EntryFault) -> Result
    ) throws(StoreError) -> Result {
        guard EntryFile.isEntry(bytes) else {
            let reason = "it does not end as an entry does"
            throw StoreError(.foreign, path: name, action: Self.reading, reason: reason)
        }
        do throws(EntryFault) {
            return try body()
        } catch {
            throw error.error(path: name, limit: Self.archiveByteLimit)
        }
    }
}

/// An entry as it is sent.
struct NewEntry {
    let key: StoreKey
    let bytes: [UInt8]
    let information: EntryInformation
    /// In the engine's time.
    let attributesThere: EntryAttributes
    let lifetime: Lifetime
    /// The names of the parts in which the entry is sent; none for one that is sent whole.
    let parts: [String]

    /// - Parameters:
    ///   - names: of its cache.
    ///   - now: by this machine's clock.
    ///   - serial: tells this save from every other one.
    init(
        _ archive: [UInt8],
        of key: StoreKey,
        in names: EntryNames,
        _ attributes: EntryAttributes,
        clock: EngineClock,
        now: Date = .now,
        serial: UInt64,
        compression: SharedSettings.Compression = .automatic,
        sealing: ValueSealing? = nil
    ) throws(StoreError) {
        let limit = EngineEntry.archiveByteLimit
        guard archive.count <= limit else { throw StoreError.tooLarge(archive.count, limit: limit) }
        var (archive, kind) = (archive, compression.kind(for: archive))
        if let sealing { (archive, kind) = (try sealing.seal(archive, for: key, kind), .stored) }
        guard archive.count <= limit else { throw StoreError.tooLarge(archive.count, limit: limit) }
        var attributes = attributes
        attributes.serial = serial
        let there = clock.there(attributes)
        self.key = key
        attributesThere = there
        bytes = try EntryFile.bytes(
            archive: archive,
            key: key,
            attributes: there,
            compression: kind
        )
        lifetime = Lifetime(attributes, now: now)
        let count = (bytes.count - 1) / EngineEntry.partByteCount + 1
        parts = count == 1 ? [] : (0..<count).map { names.part($0, of: key, serial: serial) }
        information = EntryInformation(
            key: key.string,
            attributes: attributes,
            archiveByteCount: archive.count,
            storedByteCount: bytes.count,
            identity: EntryIdentity(there) ?? EntryIdentity(volume: 0, file: 0, checksum: 0)
        )
    }
}

/// The serials of saves: a random number at first, which takes a system call, and numbers that follow from it
/// (SplitMix64), none of which comes twice.
struct EntrySerials {
    private var state = UInt64.random(in: 0 ... .max)

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}
