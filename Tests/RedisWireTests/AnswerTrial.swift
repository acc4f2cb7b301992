#if canImport(RedisWireSources)
    // The fuzzer's package has the sources under this name, since no two packages may have a module of one name.
    import RedisWireSources
#else
    import RedisWire
#endif

/// The law of the decoder: a stream has the same values and the same error however it is cut, and values that are written
/// again, streamed or not, are read as they were. The fuzzer of RESP3 has a link to this file.
struct AnswerTrial {
    enum Broken: Error {
        case differentWhenCut(at: [Int])
        case differentWhenWrittenAnew(RedisValue, streamed: Bool)
        case errorWithoutPlace(RedisDecodingError)
    }

    let bytes: [UInt8]

    /// Streams up to this length are cut into two at every byte.
    private static let cutEverywhereLength = 48

    func run(partLength: Int) throws {
        let whole = Outcome(of: bytes, cutAt: [])
        if let error = whole.error, error.message.isEmpty || error.offset > UInt64(bytes.count) {
            throw Broken.errorWithoutPlace(error)
        }
        for length in Set([1, partLength]) {
            try compare(whole, cutAt: Array(stride(from: length, to: bytes.count, by: length)))
        }
        if bytes.count <= Self.cutEverywhereLength {
            for place in bytes.indices { try compare(whole, cutAt: [place]) }
        }
        for value in whole.values {
            for streamed in [false, true] { try writeAnew(value, streamed: streamed) }
        }
    }

    private func compare(_ whole: Outcome, cutAt places: [Int]) throws {
        let parts = Outcome(of: bytes, cutAt: places)
        guard parts.error == whole.error, parts.isWhole == whole.isWhole, parts.written == whole.written else {
            throw Broken.differentWhenCut(at: places)
        }
    }

    private func writeAnew(_ value: RedisValue, streamed: Bool) throws {
        let written = ValueWriter.encode(value) { streamed }
        var limits = Outcome.limits
        // A streamed string is a level of its own, and a streamed value may count its elements twice.
        limits.depth += 1
        limits.elements *= 2
        let again = Outcome(of: written, cutAt: [], limits)
        guard again.error == nil, again.isWhole, again.written == ValueWriter.encode(value) else {
            throw Broken.differentWhenWrittenAnew(value, streamed: streamed)
        }
    }
}

/// Everything that a decoder says of a stream.
private struct Outcome {
    var values: [RedisValue] = []
    var error: RedisDecodingError?
    /// Whether the stream ended with a value.
    var isWhole = false

    static var limits: RedisDecodingLimits {
        var limits = RedisDecodingLimits()
        limits.elements = 1 << 16
        return limits
    }

    init(of bytes: [UInt8], cutAt places: [Int], _ limits: RedisDecodingLimits = Self.limits) {
        var decoder = RedisDecoder(limits: limits, keepsAttributes: true)
        do throws(RedisDecodingError) {
            var start = 0
            for end in places + [bytes.count] {
                decoder.append(bytes[start..<end])
                while let value = try decoder.next() { values.append(value) }
                start = end
            }
            isWhole = decoder.isAtBoundary
        } catch {
            self.error = error
        }
    }

    /// The values as bytes: a value that is not a number does not equal itself.
    var written: [UInt8] { values.flatMap { ValueWriter.encode($0) } }
}
