/// A key that a store takes, as its UTF-8 bytes, by which it is compared.
package struct StoreKey: Sendable {
    /// The longest key, in UTF-8 bytes.
    static let largestByteCount = 1024

    package let string: String
    package let bytes: [UInt8]

    /// - Throws: `.invalidArgument` unless `string` is 1 to 1,024 UTF-8 bytes.
    package init(_ string: String) throws(StoreError) {
        let bytes = [UInt8](string.utf8)
        guard !bytes.isEmpty, bytes.count <= Self.largestByteCount else {
            let reason = "a key is 1 to \(Self.largestByteCount) UTF-8 bytes, not \(bytes.count)"
            throw StoreError(.invalidArgument, action: "taking a key", reason: reason)
        }
        self.string = string
        self.bytes = bytes
    }

    /// The key of a record, whose bytes were taken before.
    init(taken bytes: [UInt8]) {
        string = String(decoding: bytes, as: UTF8.self)
        self.bytes = bytes
    }
}
