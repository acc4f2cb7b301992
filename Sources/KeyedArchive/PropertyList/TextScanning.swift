// Text looked at several characters at a time.

/// Whether all bytes are below 0x80, looked at eight at a time.
///
/// Why the loads are safe: each one ends within the run, as its condition says.
package func isASCII(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let raw = UnsafeRawBufferPointer(text)
    var seen: UInt64 = 0
    var at = 0
    while at &+ 8 <= raw.count {
        seen |= raw.loadUnaligned(fromByteOffset: at, as: UInt64.self)
        at &+= 8
    }
    while at < raw.count {
        seen |= UInt64(raw[at])
        at &+= 1
    }
    return seen & 0x8080_8080_8080_8080 == 0
}

/// Whether UTF-16 text, the higher byte of each unit first, has no surrogates, looked at four units at a time.
///
/// Why the loads are safe: as in `isASCII`.
func hasNoSurrogates(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    let raw = UnsafeRawBufferPointer(text)
    var found: UInt64 = 0
    var at = 0
    while at &+ 8 <= raw.count {
        // Zero in the units that are surrogates.
        let units = UInt64(bigEndian: raw.loadUnaligned(fromByteOffset: at, as: UInt64.self))
        let others = (units ^ 0xD800_D800_D800_D800) & 0xF800_F800_F800_F800
        found |= (others &- 0x0001_0001_0001_0001) & ~others & 0x8000_8000_8000_8000
        at &+= 8
    }
    while at < raw.count {
        if raw[at] & 0xF8 == 0xD8 { return false }
        at &+= 2
    }
    return found == 0
}
