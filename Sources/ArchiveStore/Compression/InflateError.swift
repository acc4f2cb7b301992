/// Why bytes are not the zlib stream that they were said to be.
package enum InflateError: Error {
    /// Not a whole zlib stream, or followed by other bytes, or of another length than expected.
    case damaged
    /// More bytes are expected than a stream of this length can hold.
    case impossibleLength
    /// More bytes are expected than the limit allows.
    case tooLarge
}
