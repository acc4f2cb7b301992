import CDeflate

/// The strings of a preset dictionary, indexed once for all inputs that are deflated against it.
///
/// Unsafe code, and why it is sound: the index is made in `init`, never changed, and freed in `deinit`, when no call
/// uses it any longer. Calls are given whole buffers with their counts, and write within these; the C code's argument
/// stands beside it.
final class DictionaryStrings: @unchecked Sendable {
    private let index: OpaquePointer

    init(_ bytes: [UInt8]) {
        // As Swift's arrays end the process then.
        guard let index = small_dictionary_make(bytes, bytes.count) else { fatalError("there is no memory left") }
        self.index = index
    }

    deinit { small_dictionary_free(index) }

    /// Deflates all of `input` into `output` to DEFLATE data without a zlib stream's header and trailer, and
    /// returns the number of bytes there; `nil` if it does not fit.
    ///
    /// - Parameter level: as zlib's, 1 to 9: how long it looks for strings.
    /// - Precondition: `input` has at most ``PresetDictionary/largestInput`` bytes.
    func deflate(
        _ input: UnsafeRawBufferPointer,
        into output: UnsafeMutableRawBufferPointer,
        level: Int
    ) -> Int? {
        let depth: Int32 = level < 4 ? 12 : level < 7 ? 32 : 128
        let count = small_deflate(index, input.baseAddress, input.count, depth, output.baseAddress, output.count)
        return count == 0 ? nil : count
    }
}
