#if Libdeflate
    import CLibdeflate

    /// Makes streams of whole inputs by libdeflate, at one of the levels 1 to 9.
    ///
    /// Unsafe code, and why it is sound: the compressor is made in `init` and freed in `deinit` by the same object, and
    /// libdeflate reads and writes within the buffers' counts for every input.
    ///
    /// `@unchecked Sendable`: the guard is `StreamPool`, which lends it to one caller at a time.
    final class LibdeflateCompressor: @unchecked Sendable {
        private let compressor: OpaquePointer

        init(level: Int) {
            guard let made = libdeflate_alloc_compressor(Int32(level)) else {
                preconditionFailure("libdeflate has no memory")
            }
            compressor = made
        }

        deinit { libdeflate_free_compressor(compressor) }

        /// Deflates all of `input` to the blocks that end a stream, without zlib's header and trailer; `nil` if they do not
        /// fit.
        func deflate(_ input: UnsafeRawBufferPointer, into output: UnsafeMutableRawBufferPointer) -> Int? {
            let count = libdeflate_deflate_compress(
                compressor,
                input.baseAddress,
                input.count,
                output.baseAddress,
                output.count
            )
            return count == 0 ? nil : count
        }
    }

    /// Inflates whole streams by libdeflate.
    ///
    /// Unsafe code, and why it is sound: as in `LibdeflateCompressor`.
    ///
    /// `@unchecked Sendable`: the guard is `StreamPool`, which lends it to one caller at a time.
    final class LibdeflateDecompressor: @unchecked Sendable {
        private let decompressor: OpaquePointer

        init() {
            guard let made = libdeflate_alloc_decompressor() else {
                preconditionFailure("libdeflate has no memory")
            }
            decompressor = made
        }

        deinit { libdeflate_free_decompressor(decompressor) }

        /// Whether all of `input` is one zlib stream, and its content fills `output` exactly.
        func inflate(_ input: UnsafeRawBufferPointer, filling output: UnsafeMutableRawBufferPointer) -> Bool {
            var taken = 0
            // Without a place for the length, less content than `output` has room for is an error.
            let result = libdeflate_zlib_decompress_ex(
                decompressor,
                input.baseAddress,
                input.count,
                output.baseAddress,
                output.count,
                &taken,
                nil
            )
            return result == LIBDEFLATE_SUCCESS && taken == input.count
        }
    }
#endif
