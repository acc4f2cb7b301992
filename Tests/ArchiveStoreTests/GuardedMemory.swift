import Foundation

/// Memory between two pages that nothing may touch: an access outside of it ends the process.
///
/// Bytes are placed at its very end, or at its very start.
final class GuardedMemory {
    enum Place: CaseIterable { case start, end }

    private let mapped: UnsafeMutableRawBufferPointer
    private let memory: UnsafeMutableRawBufferPointer

    /// - Parameter capacity: How many bytes can be placed, at least.
    init(capacity: Int) {
        let page = Int(getpagesize())
        let inner = (capacity + page) / page * page
        let start = mmap(nil, inner + 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0)
        guard let start, start != MAP_FAILED else { fatalError("there is no memory left") }
        mapped = UnsafeMutableRawBufferPointer(start: start, count: inner + 2 * page)
        memory = UnsafeMutableRawBufferPointer(rebasing: mapped[page..<(page + inner)])
        for guardPage in [start, start + page + inner] {
            precondition(mprotect(guardPage, page, PROT_NONE) == 0, "a page is not protected")
        }
    }

    deinit { munmap(mapped.baseAddress, mapped.count) }

    /// Room for so many bytes.
    func room(_ count: Int, at place: Place) -> UnsafeMutableRawBufferPointer {
        switch place {
        case .start: UnsafeMutableRawBufferPointer(rebasing: memory[..<count])
        case .end: UnsafeMutableRawBufferPointer(rebasing: memory[(memory.count - count)...])
        }
    }

    /// A copy of bytes there.
    func copy(_ bytes: [UInt8], at place: Place) -> UnsafeRawBufferPointer {
        let room = room(bytes.count, at: place)
        room.copyBytes(from: bytes)
        return UnsafeRawBufferPointer(room)
    }
}
