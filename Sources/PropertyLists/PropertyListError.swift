/// An error of reading or writing a property list.
public struct PropertyListError: Error, Sendable {
    /// The kind of failure. More may come.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Kind: String { case unknownFormat, corrupted, limitExceeded, notRepresentable }
        private let kind: Kind

        /// The bytes are in no format that is known.
        public static let unknownFormat = Code(kind: .unknownFormat)
        /// The bytes begin like a property list, and break its format's rules.
        public static let corrupted = Code(kind: .corrupted)
        /// The property list exceeds one of the ``PropertyListLimits``.
        public static let limitExceeded = Code(kind: .limitExceeded)
        /// The value, or a part of it, cannot be written in the format.
        public static let notRepresentable = Code(kind: .notRepresentable)

        /// The name of the code, such as `corrupted`.
        public var description: String { kind.rawValue }

        /// Whether an error has this code, for patterns: `catch PropertyListError.Code.unknownFormat`.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? PropertyListError)?.code == code }
    }

    /// The kind of this failure.
    public let code: Code
    /// The failure in words, without values of the list.
    public let message: String
    /// The byte of the failure, in the input or, for text in another encoding, in its UTF-8; `nil` for writing.
    public let offset: Int?
    /// The line and column in text formats; `nil` for the binary format and for writing.
    public internal(set) var position: PropertyListPosition?

    init(_ code: Code, _ message: String, offset: Int? = nil) {
        self.code = code
        self.message = message
        self.offset = offset
    }
}

extension PropertyListError: CustomStringConvertible {
    /// The message, with the line or the byte where it is known.
    public var description: String {
        if let position { return "\(message) (\(position))" }
        if let offset { return "\(message) (offset \(offset))" }
        return message
    }
}
