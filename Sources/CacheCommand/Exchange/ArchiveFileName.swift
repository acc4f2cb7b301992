import ArchiveStore

/// The name of the file that an entry is exported to: its key, with every byte escaped that is not a letter, digit, `-`,
/// `_`, or dot after the first place, as `%` and two digits. So no key makes a path, a hidden file, or a name that
/// file systems take as another one for its accents.
///
/// Where that is too long, or taken, as `A` by `a` on some file systems, the name is the key's beginning, `~`, and a
/// hash of the key: then only the index has the key.
enum ArchiveFileName {
    static let fileExtension = ".plist"
    /// Names that end otherwise are not taken for archives where there is no index.
    static let readExtensions = [".plist", ".archive"]
    /// File systems take 255 bytes.
    private static let longest = 200
    private static let mark = UInt8(ascii: "~")

    /// The key's own name; `nil` if it is too long.
    static func plain(_ key: String) -> String? {
        let name = key.utf8.enumerated().map(piece).joined() + fileExtension
        return name.utf8.count <= longest ? name : nil
    }

    /// The name with the key's hash.
    static func hashed(_ key: String) -> String {
        let digest = KeyDigest(hashing: key)
        let hash = [digest.high, digest.low].map { word in
            let digits = String(word, radix: 16)
            return String(repeating: "0", count: 16 - digits.count) + digits
        }
        let end = "~" + hash.joined() + fileExtension
        var start = ""
        for piece in key.utf8.enumerated().lazy.map(piece) {
            guard start.utf8.count + piece.utf8.count + end.utf8.count <= longest else { break }
            start += piece
        }
        return start + end
    }

    /// Whether a file of that name, for that key, may come from an export.
    static func isName(_ name: String, of key: String) -> Bool {
        [plain(key), hashed(key)].contains { $0.map { $0.utf8.elementsEqual(name.utf8) } ?? false }
    }

    /// Whether a file is taken for an archive by its name alone.
    static func isArchive(_ name: String) -> Bool {
        !name.hasPrefix(".") && readExtensions.contains { name.hasSuffix($0) }
    }

    /// The key that a file's name stands for.
    static func key(of name: String) throws(RejectedRecord) -> String {
        let ending = readExtensions.first { name.hasSuffix($0) } ?? ""
        var rest = Array(name.utf8.dropLast(ending.utf8.count))[...]
        var bytes: [UInt8] = []
        while let byte = rest.popFirst() {
            switch byte {
            case mark:
                throw RejectedRecord(
                    reason: "its name holds a part of the key only; the rest is in the export's index"
                )
            case UInt8(ascii: "%"):
                guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit) else {
                    throw RejectedRecord(reason: "in its name two hexadecimal digits must follow each %")
                }
                bytes.append(high << 4 | low)
            default: bytes.append(byte)
            }
        }
        guard let key = String(validating: bytes, as: UTF8.self) else {
            throw RejectedRecord(reason: "its name does not stand for UTF-8 text")
        }
        return key
    }

    private static func piece(_ place: Int, _ byte: UInt8) -> String {
        let scalar = Unicode.Scalar(byte)
        switch scalar {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_": return String(scalar)
        case "." where place > 0: return "."
        default: return "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16, uppercase: true)
        }
    }

    private static func digit(_ byte: UInt8) -> UInt8? {
        Character(Unicode.Scalar(byte)).hexDigitValue.map(UInt8.init)
    }
}
