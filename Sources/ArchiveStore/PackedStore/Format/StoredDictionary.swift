/// A preset dictionary as segments and the index have it, which takes its time to inflate: most copies are of one that is
/// known already.
struct StoredDictionary: Hashable, Sendable {
    let bytes: [UInt8]
    /// The bytes of the dictionary itself.
    let byteCount: Int

    /// By the stream's checksum, which tells dictionaries apart as well as all bytes do.
    func hash(into hasher: inout Hasher) {
        hasher.combine(bytes.count)
        for byte in bytes.suffix(4) { hasher.combine(byte) }
    }

    /// The dictionary; `nil` if the bytes do not give one of such a length.
    func inflated() -> [UInt8]? { PresetDictionary.bytes(stored: bytes, byteCount: byteCount) }
}
