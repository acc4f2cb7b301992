/// The format of a property list. New formats may be added: always keep a `default` when switching.
public struct PropertyListFormat: Sendable, Hashable, CaseIterable {
    enum Base: String { case binary, xml, openStep, gnuStep }

    let base: Base

    /// Apple's binary format, `bplist00`.
    public static let binary = PropertyListFormat(base: .binary)
    /// Apple's XML format, version 1.0.
    public static let xml = PropertyListFormat(base: .xml)
    /// OpenStep's text: strings, data, arrays and dictionaries only; `.strings` files, too.
    public static let openStep = PropertyListFormat(base: .openStep)
    /// GNUstep's text: OpenStep's with types, as in `<*I5>`.
    public static let gnuStep = PropertyListFormat(base: .gnuStep)

    /// All formats, the binary one first.
    public static let allCases = [binary, xml, openStep, gnuStep]

    /// Whether a dictionary's last value of a key counts; else the first: as in Foundation.
    var lastDuplicateCounts: Bool { self != .binary }
}

extension PropertyListFormat: RawRepresentable, CustomStringConvertible {
    /// `nil` if no format has this name.
    public init?(rawValue: String) {
        guard let base = Base(rawValue: rawValue) else { return nil }
        self.init(base: base)
    }

    /// The format's name: `binary`, `xml`, `openStep` or `gnuStep`.
    public var rawValue: String { base.rawValue }
    /// The format's name, the same as ``rawValue``.
    public var description: String { rawValue }
}
