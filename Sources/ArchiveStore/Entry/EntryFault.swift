/// Why the bytes of a file are not an entry that can be used.
enum EntryFault: Error {
    /// The bytes are not those that were saved.
    case damaged(String)
    /// A whole entry of a version that came after this one.
    case unsupportedVersion(Int)
    /// More bytes than the limit allows; whether they are damaged was not looked at.
    case tooLarge(byteCount: UInt64)
}
