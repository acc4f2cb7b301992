import Foundation

/// Changes of files, read from an input.
struct Edits {
    private var rest: Data.SubSequence

    init(_ data: Data) { rest = data[...] }

    var isAtEnd: Bool { rest.isEmpty }

    private mutating func byte() -> Int { Int(rest.popFirst() ?? 0) }

    /// - Precondition: `limit` is from 1 to 65,536.
    mutating func number(below limit: Int) -> Int {
        if limit <= 256 { return byte() % limit }
        return (byte() | byte() << 8) % limit
    }

    /// Changes a file by one edit: flips bits, cuts, lengthens, writes bytes over others, or moves some.
    mutating func change(_ content: inout [UInt8]) {
        let kind = byte()
        // From the end in half of the edits, where the newest records lie.
        let offset = number(below: min(content.count, 1 << 16) + 1)
        let place = kind & 8 == 0 ? offset : content.count - offset
        switch kind % 8 {
        case 0: content.removeLast(content.count - place)
        case 1: content += rest.prefix(byte())
        case 2: content.insert(contentsOf: rest.prefix(byte()), at: place)
        case 3: content.removeSubrange(place..<min(content.count, place + byte()))
        case 4:
            let moved = content[place..<min(content.count, place + byte())]
            content.insert(contentsOf: moved, at: number(below: min(content.count, 1 << 16) + 1))
        case 5:
            for (index, new) in zip(content.indices[place...], rest.prefix(byte())) { content[index] = new }
        default: if place < content.count { content[place] ^= UInt8(byte()) }
        }
    }
}
