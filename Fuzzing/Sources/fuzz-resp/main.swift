import FuzzKit
import RedisWire

struct DifferentWhenCut: Error {}

/// The number of values and the error of a stream that comes in parts of the same length.
func read(_ bytes: [UInt8], partLength: Int) -> (count: Int, error: RedisDecodingError?) {
    var limits = RedisDecodingLimits()
    limits.elements = 1 << 16
    var decoder = RedisDecoder(limits: limits, keepsAttributes: true)
    var count = 0
    do throws(RedisDecodingError) {
        for start in stride(from: 0, to: bytes.count, by: partLength) {
            decoder.append(bytes[start..<min(start + partLength, bytes.count)])
            while try decoder.next() != nil { count += 1 }
        }
    } catch {
        return (count, error)
    }
    return (count, nil)
}

// Answers of a server: the first byte says how they are cut.
Fuzzer.run { data in
    let bytes = [UInt8](data.dropFirst())
    let whole = read(bytes, partLength: max(bytes.count, 1))
    let parts = read(bytes, partLength: Int(data.first ?? 0) % 16 + 1)
    if whole.count != parts.count || whole.error != parts.error { throw DifferentWhenCut() }
    if let error = whole.error, error.message.isEmpty || error.offset > UInt64(bytes.count) { throw error }
}
