import Foundation

/// Why an archive could not be written or read.
public struct ArchiveError: Error, Sendable {
    /// The kind of a failure. New codes may be added: always keep a `default` when switching.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Base: String {
            case
                corrupted, unknownFormat, unsupportedFormat, limitExceeded, missingValue, typeMismatch, outOfRange,
                classNotAllowed, unsupportedType, cyclicReference, decodingFailed, encodingFailed, io
        }
        private let base: Base

        /// The bytes break the rules of the format: truncated, garbled, references out of range.
        public static let corrupted = Code(base: .corrupted)
        /// The bytes are not a property list at all, or one that is not a keyed archive.
        public static let unknownFormat = Code(base: .unknownFormat)
        /// A known format that is not read or written here.
        public static let unsupportedFormat = Code(base: .unsupportedFormat)
        /// Nesting or the number of references is above the limit.
        public static let limitExceeded = Code(base: .limitExceeded)
        /// A value that must be there is absent.
        public static let missingValue = Code(base: .missingValue)
        /// A value is of another type than the one asked for.
        public static let typeMismatch = Code(base: .typeMismatch)
        /// A number does not fit the type asked for.
        public static let outOfRange = Code(base: .outOfRange)
        /// The archive names a class that may not be instantiated here.
        public static let classNotAllowed = Code(base: .classNotAllowed)
        /// A value of this type cannot be archived.
        public static let unsupportedType = Code(base: .unsupportedType)
        /// An object contains itself, and a part of it needs it before it is decoded.
        public static let cyclicReference = Code(base: .cyclicReference)
        /// A type's own `init(coder:)` or `init(from:)` refused.
        public static let decodingFailed = Code(base: .decodingFailed)
        /// A type's own `encode(with:)` or `encode(to:)` failed.
        public static let encodingFailed = Code(base: .encodingFailed)

        /// A file could not be read or written.
        public static let io = Code(base: .io)

        /// The name of the code, such as `corrupted`.
        public var description: String { base.rawValue }

        /// Whether an error has this code, for patterns: `catch ArchiveError.Code.typeMismatch`.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? ArchiveError)?.code == code }
    }

    /// The kind of failure.
    public let code: Code
    /// A description of the failure, for people. Never contains archived values.
    public let message: String
    /// The place of the failure in the archive, in bytes from its start; for XML in UTF-16 and UTF-32, in its UTF-8; `nil`
    /// if no place is to blame.
    public let offset: Int?
    /// The keys that lead from the root to the failure, outermost first.
    public let keyPath: [String]
    /// The error that a type's own coding threw, if that is the cause.
    public let cause: (any Error)?

    package init(
        _ code: Code,
        _ message: String,
        offset: Int? = nil,
        keyPath: [String] = [],
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message
        self.offset = offset
        self.keyPath = keyPath
        self.cause = cause
    }

    /// The error for an object of another type than the one asked for.
    static func mismatch(_ object: Any, asked type: Any.Type, forKey key: String) -> ArchiveError {
        let found = ClassNames.name(of: Swift.type(of: object))
        return ArchiveError(
            .typeMismatch,
            "\(found), where \(ClassNames.name(of: type)) is expected",
            keyPath: [key]
        )
    }

    #if canImport(Darwin)
        /// The error for an exception of Objective-C's that a method of a class raised.
        package init(_ code: Code, _ exception: NSException, in method: String, of type: Any.Type) {
            self.init(code, "the \(method) of \(ClassNames.name(of: type)) raised \(exception.name.rawValue)")
        }
    #endif

    /// The same error in another place.
    func at(_ offset: Int?) -> ArchiveError {
        ArchiveError(code, message, offset: offset, keyPath: keyPath, cause: cause)
    }

    /// The same error, seen from one key further out.
    func within(_ key: String) -> ArchiveError {
        ArchiveError(code, message, offset: offset, keyPath: [key] + keyPath, cause: cause)
    }
}

extension ArchiveError: CustomStringConvertible, LocalizedError {
    /// The code, the message, and the keys and the byte that it is about.
    public var description: String { "\(code): \(detail)" }

    /// The message and the place, without the code, for an error that has a code of its own.
    package var detail: String {
        var text = message
        if !keyPath.isEmpty { text += ", at \(keyPath.joined(separator: "."))" }
        if let offset { text += ", byte \(offset)" }
        return text
    }

    /// The same as ``description``.
    public var errorDescription: String? { description }
}

extension ArchiveError.Code {
    /// The code under which Foundation's coders report failures of this kind.
    public var cocoaCode: CocoaError.Code {
        switch self {
        case .missingValue: .coderValueNotFound
        case .unknownFormat, .unsupportedFormat: .propertyListReadCorrupt
        case .unsupportedType, .encodingFailed: .coderInvalidValue
        default: .coderReadCorrupt
        }
    }
}
