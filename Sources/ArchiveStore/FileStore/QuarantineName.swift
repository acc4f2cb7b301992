/// The names in quarantine: 16 hexadecimal digits that count arrivals, then the name that the file had.
///
///     0000000000000007.a3817f04ba25a8e66df67214c7550293.0
///     │                │ └ name and slot in that directory, see `EntryName`
///     │                └ directory
///     └ number
struct QuarantineName: Comparable {
    let number: UInt64
    let fileName: String

    init(number: UInt64, _ name: EntryName, slot: Int) {
        self.number = number
        let digits = String(number, radix: 16)
        let zeros = String(repeating: "0", count: Self.digitCount - digits.utf8.count)
        fileName = zeros + digits + "." + EntryName.shardName(name.shard) + name.fileName(slot: slot)
    }

    /// `nil` if no store names a file like that.
    init?(_ fileName: String) {
        let bytes = Array(fileName.utf8)
        let shardStart = Self.digitCount + 1
        guard bytes.count > shardStart + 2,
            let number = UInt64(String(decoding: bytes[..<Self.digitCount], as: UTF8.self), radix: 16),
            let shard = UInt8(String(decoding: bytes[shardStart..<(shardStart + 2)], as: UTF8.self), radix: 16),
            let (name, slot) = EntryName.parse(
                String(decoding: bytes[(shardStart + 2)...], as: UTF8.self),
                shard: Int(shard)
            )
        else { return nil }
        self.init(number: number, name, slot: slot)
        guard self.fileName == fileName else { return nil }
    }

    private static let digitCount = 16

    static func < (first: QuarantineName, second: QuarantineName) -> Bool {
        (first.number, first.fileName) < (second.number, second.fileName)
    }
}
