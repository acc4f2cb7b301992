import Foundation

/// A property list that was read or is to be written: its values in one array, its text and data in another.
final class NodeTable: Sendable {
    let nodes: [Node]
    /// The input, and behind it text and data that had to be decoded; strings are UTF-8 that was checked.
    let bytes: [UInt8]
    let format: PropertyListFormat

    init(_ builder: consuming NodeBuilder, format: PropertyListFormat) {
        nodes = builder.nodes
        bytes = builder.bytes
        self.format = format
    }

    static let root = 0

    @inline(__always)
    func text(_ node: Node) -> String {
        bytes.withUnsafeBufferPointer {
            String(decoding: UnsafeBufferPointer(rebasing: $0[node.range]), as: UTF8.self)
        }
    }

    func data(_ node: Node) -> Data {
        bytes.withUnsafeBufferPointer { Data(buffer: UnsafeBufferPointer(rebasing: $0[node.range])) }
    }

    @inline(__always)
    func haveSameBytes(_ node: Node, _ text: UnsafeBufferPointer<UInt8>) -> Bool {
        guard node.length == text.count else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            let part = UnsafeBufferPointer(rebasing: bytes[node.range])
            guard let left = part.baseAddress, let right = text.baseAddress else { return true }
            return memcmp(left, right, text.count) == 0
        }
    }

    /// Whether a dictionary's last value of a key counts; else the first: as in Foundation.
    var lastDuplicateCounts: Bool { format != .binary }

    func position(of node: Node) -> PropertyListPosition { position(at: Int(node.offset)) }

    /// O(*n*) in the bytes before, for lines.
    func position(at offset: Int) -> PropertyListPosition {
        format == .binary
            ? PropertyListPosition(offset: offset, line: 0, column: 0) : Self.position(at: offset, in: bytes)
    }

    static func position(at offset: Int, in bytes: [UInt8]) -> PropertyListPosition {
        var line = 1
        var start = 0
        var at = 0
        let end = min(offset, bytes.count)
        while at < end {
            let byte = bytes[at]
            at += 1
            if byte == 0x0A || (byte == 0x0D && !(at < bytes.count && bytes[at] == 0x0A)) {
                line += 1
                start = at
            }
        }
        return PropertyListPosition(offset: offset, line: line, column: end - start + 1)
    }
}
