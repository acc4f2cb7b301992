/// Reads the file of an entry wherever it lies, for tools.
package enum EntryReader {
    /// Whether bytes look like an entry's file, sound or damaged: they begin as a zlib stream.
    package static func isEntry(_ bytes: [UInt8]) -> Bool {
        // RFC 1950: method 8 in the low half of the first byte, and the first two are a multiple of 31.
        guard bytes.count >= 2, bytes[0] & 0x0F == 8 else { return false }
        return ByteReader(bytes).number(at: 0, as: UInt16.self) % 31 == 0
    }

    /// The archive in an entry's file.
    ///
    /// - Parameters:
    ///   - path: the file's, for messages.
    ///   - limit: the largest archive in bytes, 1 GiB by default.
    /// - Throws: `.corrupted`, `.unsupportedVersion`, `.tooLarge`.
    package static func archive(
        in bytes: [UInt8],
        path: String,
        limit: Int = 1 << 30
    ) throws(StoreError) -> [UInt8] {
        do throws(EntryFault) {
            return try EntryFile(verifying: bytes).archive(limit: limit)
        } catch {
            throw error.error(path: path, limit: limit)
        }
    }
}
