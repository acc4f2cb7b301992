import CZlib

/// Memory for zlib streams that are set up and given up again and again: the next stream takes the blocks that one
/// gives back.
///
/// Copying a stream with memory from the heap takes longer than deflating a small archive, as soon as its
/// window is one that the heap gets from the system and gives back each time.
///
/// Unsafe code, and why it is sound: every block comes from `allocate` and is given back to `deallocate` once, by zlib,
/// which pairs them; a block is in `idle` only while no stream has it. Blocks are freed in `deinit`, so the owner ends
/// its streams before it lets go of this. zlib gets this object as an unretained pointer, for which the owner holds it.
///
/// `@unchecked Sendable`: the guard is that of the stream that owns it, one caller at a time.
final class RecycledMemory: @unchecked Sendable {
    private struct Block {
        let address: UnsafeMutableRawPointer
        let byteCount: Int
    }

    /// A handful: five blocks make a stream.
    private var idle: [Block] = []
    /// Their lengths, which zlib does not tell when it gives a block back.
    private var lent: [Block] = []

    deinit {
        for block in idle { block.address.deallocate() }
    }

    /// Makes `stream`, which is not set up yet, take its memory here.
    func supply(_ stream: UnsafeMutablePointer<z_stream>) {
        stream.pointee.opaque = Unmanaged.passUnretained(self).toOpaque()
        stream.pointee.zalloc = { memory, count, size in
            guard let memory else { return nil }
            return Unmanaged<RecycledMemory>.fromOpaque(memory).takeUnretainedValue()
                .allocate(Int(count) * Int(size))
        }
        stream.pointee.zfree = { memory, address in
            guard let memory, let address else { return }
            Unmanaged<RecycledMemory>.fromOpaque(memory).takeUnretainedValue().deallocate(address)
        }
    }

    private func allocate(_ byteCount: Int) -> UnsafeMutableRawPointer {
        let block: Block
        if let index = idle.firstIndex(where: { $0.byteCount == byteCount }) {
            block = idle.remove(at: index)
        } else {
            let address = UnsafeMutableRawPointer.allocate(byteCount: byteCount, alignment: 16)
            // zlib copies whole tables, also the parts that it never wrote.
            address.initializeMemory(as: UInt8.self, repeating: 0, count: byteCount)
            block = Block(address: address, byteCount: byteCount)
        }
        lent.append(block)
        return block.address
    }

    private func deallocate(_ address: UnsafeMutableRawPointer) {
        guard let index = lent.firstIndex(where: { $0.address == address }) else { return }
        idle.append(lent.remove(at: index))
    }
}
