import Foundation

/// The nodes of a table: an array that grows at its end and has one owner.
///
/// Why its unsafe code is sound: `start` points to `capacity` nodes that this value alone owns, of which the first `count`
/// are set. Each index is compared with `count` before its use. The memory is freed once, by `deinit`. It may be read by
/// several threads at once, because a change needs the value for itself.
struct NodeStorage: ~Copyable, @unchecked Sendable {
    private var start: UnsafeMutablePointer<Node>
    private(set) var count = 0
    private var capacity: Int

    init(capacity: Int) {
        self.capacity = max(capacity, 16)
        start = Self.allocated(malloc(self.capacity * MemoryLayout<Node>.stride))
    }

    deinit { free(start) }

    private static func allocated(_ memory: UnsafeMutableRawPointer?) -> UnsafeMutablePointer<Node> {
        // As Swift's arrays end the process then.
        guard let memory else { fatalError("out of memory") }
        return memory.assumingMemoryBound(to: Node.self)
    }

    @inline(__always)
    private func check(_ index: Int) { precondition(UInt(bitPattern: index) < UInt(bitPattern: count)) }

    @inline(__always)
    subscript(index: Int) -> Node {
        get {
            check(index)
            return start[index]
        }
        set {
            check(index)
            start[index] = newValue
        }
    }

    @inline(__always)
    mutating func append(_ node: Node) {
        if count == capacity { grow() }
        start[count] = node
        count &+= 1
    }

    @inline(never)
    private mutating func grow() {
        capacity *= 2
        start = Self.allocated(realloc(start, capacity * MemoryLayout<Node>.stride))
    }

    /// Removes the nodes after the first `rest`.
    mutating func keepFirst(_ rest: Int) { count = min(max(rest, 0), count) }
}
