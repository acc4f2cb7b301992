import Foundation

/// The objects of a binary property list as their bytes stand in it, read without the package's own reader.
struct ArchiveLayout {
    /// The parts of a list, in the order in which they must stand.
    enum Part: Int, Comparable {
        case shared, containers, fixed, integers, long

        static func < (left: Part, right: Part) -> Bool { left.rawValue < right.rawValue }
    }

    private let bytes: [UInt8]
    private let referenceWidth: Int
    private let top: Int
    /// The offset of each object, by its number.
    let offsets: [Int]
    /// The names of keys and of classes, among the objects' numbers.
    private var names: Set<Int> = []

    init(_ data: Data) {
        bytes = Array(data)
        let bytes = bytes
        func number(_ range: Range<Int>) -> Int { bytes[range].reduce(0) { $0 << 8 | Int($1) } }
        let trailer = bytes.count - 32
        let width = Int(bytes[trailer + 6])
        referenceWidth = Int(bytes[trailer + 7])
        let count = number(trailer + 8..<trailer + 16)
        top = number(trailer + 16..<trailer + 24)
        let table = number(trailer + 24..<trailer + 32)
        offsets = (0..<count).map { number(table + $0 * width..<table + ($0 + 1) * width) }
        for object in 0..<count where kind(object) == 0xD {
            for (key, value) in entries(object) {
                names.insert(key)
                switch text(key) {
                case "$classname", "$archiver", "$version": names.insert(value)
                case "$classes", "$classhints": names.formUnion(members(value))
                default: break
                }
            }
        }
    }

    /// The parts in which each object may stand, in the order of the bytes.
    var parts: [(offset: Int, parts: ClosedRange<Part>)] {
        var seen: Set<Int> = []
        let places = offsets.enumerated().sorted { $0.element < $1.element }
        return places.compactMap { object, offset in
            seen.insert(offset).inserted ? (offset, parts(of: object)) : nil
        }
    }

    private func parts(of object: Int) -> ClosedRange<Part> {
        // A value that is the name of a key or class as well stands where it was written first.
        if names.contains(object) || text(object) == "$null" { return .shared ... .long }
        switch kind(object) {
        case 0x0: return bytes[offsets[object]] == 0 ? .shared ... .shared : .fixed ... .fixed
        case 0x8: return .shared ... .shared
        case 0xA, 0xC, 0xD: return .containers ... .containers
        case 0x2, 0x3: return .fixed ... .fixed
        case 0x1: return .integers ... .integers
        case 0x5 where (text(object) ?? "").utf8.count <= 3: return .fixed ... .fixed
        default: return .long ... .long
        }
    }

    private func kind(_ object: Int) -> UInt8 { bytes[offsets[object]] >> 4 }

    /// Where an object's content begins, and the count that its marker announces.
    private func content(_ object: Int) -> (start: Int, count: Int) {
        let at = offsets[object]
        guard bytes[at] & 15 == 15 else { return (at + 1, Int(bytes[at] & 15)) }
        let width = 1 << Int(bytes[at + 1] & 15)
        return (at + 2 + width, bytes[at + 2..<at + 2 + width].reduce(0) { $0 << 8 | Int($1) })
    }

    private func references(_ start: Int, _ count: Int) -> [Int] {
        (0..<count).map { index in
            let at = start + index * referenceWidth
            return bytes[at..<at + referenceWidth].reduce(0) { $0 << 8 | Int($1) }
        }
    }

    private func members(_ object: Int) -> [Int] {
        let (start, count) = content(object)
        return references(start, count)
    }

    private func entries(_ object: Int) -> [(key: Int, value: Int)] {
        let (start, count) = content(object)
        let all = references(start, 2 * count)
        return Array(zip(all.prefix(count), all.suffix(count)))
    }

    /// The text of an ASCII string.
    private func text(_ object: Int) -> String? {
        guard kind(object) == 0x5 else { return nil }
        let (start, count) = content(object)
        return String(decoding: bytes[start..<start + count], as: UTF8.self)
    }
}
