/// The format of a property list.
public enum PropertyListFormat: String, Sendable, Hashable, CaseIterable {
    /// Apple's binary format, `bplist00`.
    case binary
    /// Apple's XML format, version 1.0.
    case xml
    /// OpenStep's text: strings, data, arrays and dictionaries only; `.strings` files, too.
    case openStep
    /// GNUstep's text: OpenStep's with types, as in `<*I5>`.
    case gnuStep

    /// Whether a dictionary's last value of a key counts; else the first: as in Foundation.
    var lastDuplicateCounts: Bool { self != .binary }
}
