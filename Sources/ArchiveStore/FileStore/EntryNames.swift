/// The names that keys, tags and deadlines get in one file store.
struct EntryNames: Sendable {
    /// `nil`: the store is not encrypted, and everybody can work them out.
    private let keys: NameKeys?
    private let naming: (@Sendable (StoreKey) -> EntryName)?

    /// - Parameter naming: the names that keys get in a test, which may give many keys one name; `nil`: the usual ones.
    init(_ keys: NameKeys?, naming: (@Sendable (StoreKey) -> EntryName)?) {
        self.keys = keys
        self.naming = naming
    }

    func name(of key: StoreKey) -> EntryName {
        if let naming { return naming(key) }
        return keys?.name(of: key) ?? EntryName(key)
    }

    /// The list of the entries with a tag: 32 hexadecimal digits.
    func list(ofTag tag: String) -> String {
        let bytes = [UInt8](tag.utf8)
        return (keys?.name(ofTag: bytes) ?? EntryName(hashing: bytes)).digits
    }

    func list(of bucket: WheelBucket) -> String { keys?.list(of: bucket) ?? bucket.name }

    /// `nil` if it is not a list of deadlines.
    func bucket(of list: String) -> WheelBucket? {
        if let keys { return keys.bucket(of: list) }
        return WheelBucket(list)
    }
}
