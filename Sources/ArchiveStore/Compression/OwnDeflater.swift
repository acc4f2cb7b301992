import CDeflate

/// Memory for deflating by the package's own code, used for one input after another.
///
/// Unsafe code, and why it is sound: the memory is made in `init` and freed in `deinit` by the same object. Calls are given
/// whole buffers with their counts, and read and write within these; the C code's argument stands beside it.
///
/// `@unchecked Sendable`: the guard is `StreamPool`, which lends it to one caller at a time.
final class OwnDeflater: @unchecked Sendable {
    private let state: OpaquePointer

    init() {
        // As Swift's arrays end the process then.
        guard let state = deflater_make() else { fatalError("there is no memory left") }
        self.state = state
    }

    deinit { deflater_free(state) }

    /// Deflates all of `input`; `nil` if it does not fit.
    ///
    /// - Precondition: `input` has at most 2³¹ − 1 bytes.
    func deflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        isLast: Bool
    ) -> Int? {
        let count = deflate_whole(state, input.baseAddress, input.count, isLast, output.baseAddress, output.count)
        return count == 0 ? nil : count
    }
}
