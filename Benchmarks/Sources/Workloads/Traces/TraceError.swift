/// Why a file is no trace.
public enum TraceError: Error {
    /// It is no whole zlib stream, or one of more than 1 GiB.
    case damagedStream
    /// Its bytes are no whole number of key numbers.
    case partialNumber
}
