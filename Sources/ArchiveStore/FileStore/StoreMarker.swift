/// The file `format` of a store's directory: one line that says whose directory it is, and in which version.
///
///     typed-cache file store, format 2
///
/// Without it nothing in a directory is touched. What follows the number is up to later versions.
///
/// Version 2 is version 1 with a journal and lists beside the entries, which whoever knew version 1 only would not
/// keep. A directory of version 1 is one of version 2 without them: it is taken over by writing the marker anew.
enum StoreMarker {
    static let fileName = "format"
    static let version = 2
    static let formerVersion = 1

    private static let prefix = Array("typed-cache file store, format ".utf8)

    /// As much as is read of a marker.
    static let largestByteCount = 64

    static let bytes = prefix + Array("\(version)\n".utf8)

    /// The version that `bytes` says; `nil` if they are no marker.
    static func version(of bytes: [UInt8]) -> Int? {
        guard bytes.starts(with: prefix) else { return nil }
        let digits = bytes[prefix.count...].prefix { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }
        guard digits.count < bytes.count - prefix.count else { return nil }
        guard let version = Int(String(decoding: digits, as: UTF8.self)), version > 0 else { return nil }
        return version
    }
}
