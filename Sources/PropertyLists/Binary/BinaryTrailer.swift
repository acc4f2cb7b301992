/// Where a binary property list has its offsets, and of which width its numbers are: its last 32 bytes.
struct BinaryTrailer {
    let offsetWidth: Int
    let referenceWidth: Int
    let objectCount: Int
    /// The first byte of the offsets, after the objects.
    let table: Int
    let root: Int

    /// - Throws: ``PropertyListError`` if the offsets do not fill the place between the objects and the trailer.
    init(_ bytes: ByteView) throws(PropertyListError) {
        let trailer = bytes.count - 32
        guard trailer >= 8 else {
            throw PropertyListError(.corrupted, "truncated before the trailer", offset: bytes.count)
        }
        guard bytes[6] == 0x30 else {
            throw PropertyListError(.unknownFormat, "binary property list of an unknown version", offset: 6)
        }
        offsetWidth = Int(bytes[trailer + 6])
        referenceWidth = Int(bytes[trailer + 7])
        guard (1...8).contains(offsetWidth), (1...8).contains(referenceWidth) else {
            throw PropertyListError(.corrupted, "trailer with impossible widths", offset: trailer + 6)
        }
        func number(_ at: Int) -> UInt64 { bytes.part(at..<at + 8).reduce(0) { $0 << 8 | UInt64($1) } }
        let count = number(trailer + 8)
        let start = number(trailer + 24)
        let (length, overflow) = count.multipliedReportingOverflow(by: UInt64(offsetWidth))
        guard !overflow, start >= 9, start <= UInt64(trailer), length == UInt64(trailer) - start, count > 0 else {
            throw PropertyListError(.corrupted, "offset table does not fit the file", offset: trailer + 8)
        }
        let top = number(trailer + 16)
        guard top < count else {
            throw PropertyListError(.corrupted, "the list has no root object \(top)", offset: trailer + 16)
        }
        objectCount = Int(count)
        table = Int(start)
        root = Int(top)
    }
}
