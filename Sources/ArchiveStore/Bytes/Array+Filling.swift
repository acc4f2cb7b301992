extension [UInt8] {
    /// An array of the bytes that `fill` writes: it is given memory for `capacity` bytes, and returns how many of them it
    /// filled from the start on.
    ///
    /// Few bytes are filled on the stack and copied: making an array to be filled in its place has the standard library
    /// look up the array's type, 350 instructions each time.
    ///
    /// Unsafe code, and why it is sound: `fill` is given the bounds of the memory; only the bytes that it has filled are
    /// part of the array, and a count beyond the memory traps.
    init(filling capacity: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Int) {
        if capacity <= 1_024 {
            self = withUnsafeTemporaryAllocation(byteCount: capacity, alignment: 1) { buffer in
                Array(UnsafeRawBufferPointer(rebasing: buffer[..<fill(buffer)]))
            }
        } else {
            self.init(unsafeUninitializedCapacity: capacity) { $1 = fill(UnsafeMutableRawBufferPointer($0)) }
        }
    }
}
