// The parts of a list that the lists of one shape have in common.
extension BinaryPropertyList {
    func hasWidths(of source: PlannedSource) -> Bool {
        offsetWidth == source.offsetWidth && referenceWidth == source.referenceWidth
    }

    /// The table of offsets by words of eight bytes, the last of which may reach into the trailer, and for each word the
    /// bits of the places before `end`.
    func tableWords(objectsBefore end: Int) -> [(word: UInt64, mask: UInt64)] {
        var masks: [UInt8] = []
        for reference in 0..<objectCount {
            let isInShape = knownOffset(of: reference).map { $0 < end } ?? false
            masks += repeatElement(isInShape ? 0xFF : 0, count: offsetWidth)
        }
        return stride(from: 0, to: masks.count, by: 8).map { start in
            var mask: UInt64 = 0
            for index in start..<start + 8 { mask = mask << 8 | UInt64(index < masks.count ? masks[index] : 0) }
            return (bytes.bigEndian(table + start, 8), mask)
        }
    }

    func hasTable(_ words: [(word: UInt64, mask: UInt64)]) -> Bool {
        var difference: UInt64 = 0
        var at = table
        for (word, mask) in words {
            difference |= (bytes.bigEndian(at, 8) ^ word) & mask
            at &+= 8
        }
        return difference == 0
    }
}
