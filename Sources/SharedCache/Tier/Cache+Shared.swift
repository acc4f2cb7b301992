import Foundation
import TypedCache

// There are two, because no type says at run time whether it is Sendable: only the code that opens a cache may know.

extension Cache {
    /// Opens a cache whose entries are on a server that many machines share.
    ///
    /// Sends nothing yet. Does not block, but for the disk where `near` asks for copies there.
    ///
    /// - Parameters:
    ///   - name: as for every cache: 1 to 200 UTF-8 bytes.
    ///   - tier: the server.
    ///   - schema: the number of the form of `Value`. Entries of another number are not seen, so that programs of two
    ///     versions can share a server while one replaces the other; a removal of all entries removes those of every
    ///     number.
    ///   - olderSchemas: numbers of older forms: whenever an entry is saved or removed, those of its key of these forms
    ///     go, too, so that programs that still use them load the value again.
    ///   - near: whether this machine's disk keeps copies, too; only memory does by default.
    ///   - settings: the limits of memory, and how long entries live. `disk` has no effect; `near` is the disk here.
    /// - Throws: `CacheError` with code `.invalidName`; with a near disk also `.invalidDirectory`,
    ///   `.unsupportedVersion` and `.io`, as for a cache on disk.
    public convenience init(
        name: String,
        shared tier: SharedTier,
        schema: UInt32 = 0,
        alsoRemoves olderSchemas: [UInt32] = [],
        near: NearStorage = .memory,
        settings: CacheSettings<Value> = CacheSettings()
    ) throws(CacheError) {
        try self.init(
            name: name,
            store: tier.store(cache: name, schema: schema, olderSchemas: olderSchemas, near),
            memoryPlace: tier.place(cache: name, schema: schema),
            settings: settings,
            isSendable: false
        )
    }
}

extension Cache where Value: Sendable {
    /// Opens a cache of values that are known to be Sendable. All else is as for other values.
    public convenience init(
        name: String,
        shared tier: SharedTier,
        schema: UInt32 = 0,
        alsoRemoves olderSchemas: [UInt32] = [],
        near: NearStorage = .memory,
        settings: CacheSettings<Value> = CacheSettings()
    ) throws(CacheError) {
        try self.init(
            name: name,
            store: tier.store(cache: name, schema: schema, olderSchemas: olderSchemas, near),
            memoryPlace: tier.place(cache: name, schema: schema),
            settings: settings,
            isSendable: true
        )
    }
}
