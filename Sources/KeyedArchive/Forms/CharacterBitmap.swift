import Foundation

/// Which Unicode scalars are in a set, one bit each, as Foundation lays them out.
///
/// ```
/// 8,192 bytes            plane 0: scalar 0 is bit 0 of byte 0
/// 1 byte, 8,192 bytes    another plane: its number, 1...16, then its bits; ascending, empty ones left out
/// ```
struct CharacterBitmap {
    static let planeLength = 8_192
    /// One more than the last scalar.
    static let end: UInt32 = 0x11_0000

    private var planes: [UInt8: [UInt8]] = [:]

    init() {}

    /// The bits in Foundation's layout; `nil` if they are laid out otherwise, which Foundation does not survive.
    init?(_ data: Data) {
        let bytes = [UInt8](data)
        guard bytes.count >= Self.planeLength, (bytes.count - Self.planeLength) % (1 + Self.planeLength) == 0 else {
            return nil
        }
        planes[0] = Array(bytes[..<Self.planeLength])
        var last: UInt8 = 0
        for start in stride(from: Self.planeLength, to: bytes.count, by: 1 + Self.planeLength) {
            let plane = bytes[start]
            guard plane > last, plane <= 16 else { return nil }
            last = plane
            planes[plane] = Array(bytes[start + 1..<start + 1 + Self.planeLength])
        }
    }

    var data: Data {
        var data = Data(planes[0] ?? Self.emptyPlane)
        for plane in planes.keys.sorted() where plane > 0 {
            data.append(plane)
            data.append(contentsOf: planes[plane] ?? Self.emptyPlane)
        }
        return data
    }

    private static let emptyPlane = [UInt8](repeating: 0, count: planeLength)

    mutating func insert(_ scalar: UInt32) {
        planes[UInt8(scalar >> 16), default: Self.emptyPlane][Int(scalar & 0xFFFF) >> 3] |= 1 << UInt8(scalar & 7)
    }

    /// The scalars that are in the set, or those that are not, as ascending ranges; `nil` if these are more than
    /// `limit`.
    func ranges(inverted: Bool, limit: Int) -> [Range<UInt32>]? {
        let flip: UInt8 = inverted ? 0xFF : 0
        var ranges: [Range<UInt32>] = []
        var start: UInt32?
        for plane in 0...UInt8(16) {
            let bytes = planes[plane] ?? Self.emptyPlane
            for (index, byte) in bytes.enumerated() {
                let bits = byte ^ flip
                // Most bytes continue the range, or the gap, before them.
                if bits == (start == nil ? 0 : 0xFF) { continue }
                for bit in 0..<UInt8(8) {
                    let scalar = UInt32(plane) << 16 | UInt32(index) << 3 | UInt32(bit)
                    let isMember = bits >> bit & 1 == 1
                    if isMember, start == nil { start = scalar }
                    if !isMember, let from = start {
                        ranges.append(from..<scalar)
                        start = nil
                        if ranges.count > limit { return nil }
                    }
                }
            }
        }
        if let start { ranges.append(start..<Self.end) }
        return ranges.count > limit ? nil : ranges
    }
}
