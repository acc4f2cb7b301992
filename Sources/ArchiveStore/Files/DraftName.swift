/// The names in a directory of drafts: 16 hexadecimal digits for the session, then `.lock`, a number, or `.stats` for the
/// file that the session has published.
struct DraftName {
    let session: String
    let isLock: Bool
    let isPublished: Bool

    /// `nil` if no store names a file like that.
    init?(_ fileName: String) {
        let parts = fileName.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.count == 16,
            parts[0].utf8.allSatisfy({ Self.digits.contains($0) }),
            parts[1] == "lock" || parts[1] == Self.published
                || UInt64(parts[1]).map({ "\($0)" == parts[1] }) == true
        else { return nil }
        session = String(parts[0])
        isLock = parts[1] == "lock"
        isPublished = parts[1] == Self.published
    }

    static let published = "stats"
    private static let digits = "0123456789abcdef".utf8

    static func randomSession(_ layer: FileLayer) -> String {
        let digits = String(layer.world?.randomNumber() ?? .random(in: .min ... .max), radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
