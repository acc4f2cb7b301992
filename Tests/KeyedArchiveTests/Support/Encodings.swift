extension String {
    /// In UTF-16 with a byte order mark.
    func utf16Bytes(isBigEndian: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for unit in [0xFEFF] + Array(utf16) {
            let pair = [UInt8(unit >> 8), UInt8(unit & 0xFF)]
            bytes += isBigEndian ? pair : pair.reversed()
        }
        return bytes
    }

    /// In UTF-32 with a byte order mark.
    func utf32Bytes(isBigEndian: Bool) -> [UInt8] {
        var bytes: [UInt8] = []
        for scalar in [0xFEFF] + unicodeScalars.map(\.value) {
            let four = [24, 16, 8, 0].map { UInt8(scalar >> $0 & 0xFF) }
            bytes += isBigEndian ? four : four.reversed()
        }
        return bytes
    }
}
