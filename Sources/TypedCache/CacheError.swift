import ArchiveStore
import Foundation
import KeyedArchive

/// An error that a cache throws or reports.
public struct CacheError: Error, Sendable {
    /// A kind of failure. New codes may be added: always keep a `default` when switching.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Base: String {
            case invalidName, invalidKey, invalidExpiration, invalidTag, typeMismatch, encodingFailed,
                decodingFailed
            case io, corrupted, tooLarge, unsupportedVersion, invalidDirectory, locked, closed, forked
            case recursiveLoad, nothingToRevalidate
            case unreachable, cancelled, foreign, invalidServer
        }

        private let base: Base

        /// The name of a cache is no safe single path component.
        public static let invalidName = Code(base: .invalidName)
        /// A key is empty or longer than 1,024 UTF-8 bytes.
        public static let invalidKey = Code(base: .invalidKey)
        /// An expiration is not a moment in time.
        public static let invalidExpiration = Code(base: .invalidExpiration)
        /// A tag is empty or longer than 256 UTF-8 bytes, or an entry has more than 10.
        public static let invalidTag = Code(base: .invalidTag)
        /// The entry holds another type than the one asked for.
        public static let typeMismatch = Code(base: .typeMismatch)
        /// The value could not be archived.
        public static let encodingFailed = Code(base: .encodingFailed)
        /// The entry is of the type asked for, but the type's own decoding refused it.
        public static let decodingFailed = Code(base: .decodingFailed)
        /// The file system failed: the message says where, and gives the system's reason.
        public static let io = Code(base: .io)
        /// The bytes of an entry were damaged. Reported, not thrown by fetches: for them it is a miss.
        public static let corrupted = Code(base: .corrupted)
        /// An archive is above the size limit of an entry.
        public static let tooLarge = Code(base: .tooLarge)
        /// The directory or an entry was written by a newer version; nothing in it was touched.
        public static let unsupportedVersion = Code(base: .unsupportedVersion)
        /// The directory holds something that is not a cache; nothing in it was touched.
        public static let invalidDirectory = Code(base: .invalidDirectory)
        /// The cache is encrypted and its key was not given, or it is not encrypted and a key was given; or the program was
        /// built without the package's trait `Encryption`. Nothing was touched, and nothing of it counts as damaged.
        public static let locked = Code(base: .locked)
        /// The cache was closed by ``Cache/close()``; nothing was done.
        public static let closed = Code(base: .closed)
        /// The process was forked after the cache was opened; nothing was done. A child process opens the cache itself.
        public static let forked = Code(base: .forked)
        /// A producer fetches a key that its own load has to wait for: its own key, or the key of a producer that
        /// waits for this one.
        ///
        /// A task that the producer starts without waiting for it counts as a part of the producer, unless it is
        /// detached.
        public static let recursiveLoad = Code(base: .recursiveLoad)
        /// A producer answered that a value is unchanged, but there was no value.
        public static let nothingToRevalidate = Code(base: .nothingToRevalidate)

        /// The server of a shared cache did not answer in time, or refused. No old value is left in this process, and
        /// the tier removes the entry on the server as soon as that answers again.
        public static let unreachable = Code(base: .unreachable)
        /// The task was cancelled while it waited for the server of a shared cache. All else is as for `.unreachable`, but
        /// that later calls still ask the server.
        public static let cancelled = Code(base: .cancelled)
        /// The server has something at the entry's place that no cache has put there. Reported, not thrown by fetches:
        /// for them it is a miss. A save puts the entry in its place.
        public static let foreign = Code(base: .foreign)

        /// The address of a server cannot be used; nothing was sent.
        public static let invalidServer = Code(base: .invalidServer)

        /// The name of the code, such as `typeMismatch`.
        public var description: String { base.rawValue }

        /// Whether an error has this code, for patterns: `catch CacheError.Code.unreachable`.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? CacheError)?.code == code }
    }

    /// The kind of failure.
    public var code: Code { facts.code }
    /// The problem and its remedy, for people, without the cache and the key. Never contains cached values.
    public var message: String { facts.message }
    /// The name of the cache that failed; `nil` in errors that the package's tools throw.
    public var cache: String? { facts.cache }
    /// The key that the call was about, whole; `nil` if it was about none or several.
    public var key: String? { facts.key }
    /// The file or directory concerned, if there is one.
    public var path: String? { facts.path }
    /// The system's error number for `.io`, if there is one.
    public var errorNumber: Int32? { facts.errorNumber }
    /// The error of the archive or of the type's own coding that led to this one.
    public var cause: (any Error)? { facts.cause }

    // In an object: the results of many keys, nearly all of which are not errors, are copied without counting seven references
    // each.
    private let shared: Shared
    private var facts: Facts { shared.facts }

    private final class Shared: Sendable {
        let facts: Facts
        init(_ facts: Facts) { self.facts = facts }
    }

    private struct Facts: Sendable {
        let code: Code
        let message: String
        var cache: String?
        var key: String?
        let path: String?
        let errorNumber: Int32?
        let cause: (any Error)?
    }

    /// Makes an error as a cache throws it: for tests, and for types that replace a cache.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - message: the problem and its remedy, for people, without the cache and the key.
    ///   - cache: the name of the cache that failed.
    ///   - key: the key that the call was about.
    ///   - path: the file or directory concerned.
    ///   - errorNumber: the system's error number.
    ///   - cause: the error that led to this one.
    public init(
        _ code: Code,
        _ message: String,
        cache: String? = nil,
        key: String? = nil,
        path: String? = nil,
        errorNumber: Int32? = nil,
        cause: (any Error)? = nil
    ) {
        let facts = Facts(
            code: code,
            message: message,
            cache: cache,
            key: key,
            path: path,
            errorNumber: errorNumber,
            cause: cause
        )
        shared = Shared(facts)
    }

    private init(_ facts: Facts) { shared = Shared(facts) }

    /// The error as a call of a cache throws it: with the cache's name, and the key that the call was about.
    ///
    /// A name that the error has already stays: inner calls know better.
    func named(cache: String, key: String? = nil) -> CacheError {
        var facts = facts
        facts.cache = facts.cache ?? cache
        facts.key = facts.key ?? key
        return CacheError(facts)
    }
}

extension CacheError: CustomStringConvertible, LocalizedError {
    /// The code, the message, and once the key and the cache.
    public var description: String { "\(code): \(text)" }
    /// The message, and once the key and the cache.
    public var errorDescription: String? { text }

    /// The longest part of a name or key that is shown, in characters.
    private static var shownLength: Int { 100 }

    private var text: String {
        let names = [("key", key), ("cache", cache)].compactMap { word, name in
            name.map { "\(word) \(EscapedText.quoted($0, prefix: Self.shownLength))" }
        }
        return names.isEmpty ? message : "\(message) (\(names.joined(separator: ", ")))"
    }
}

extension CacheError {
    /// A producer waits for its own load.
    static let recursiveLoad = CacheError(
        .recursiveLoad,
        "the producer of this key fetches the key itself, or one whose producer does"
    )

    /// The error of an address that cannot be used.
    package static func invalidServer(_ message: String) -> CacheError { CacheError(.invalidServer, message) }

    /// The error of a tier that no connection can be made for in this process.
    package static func noConnection(isForked: Bool, _ message: String) -> CacheError {
        CacheError(isForked ? .forked : .unreachable, message)
    }

    /// The error of a call of a layer above that was closed.
    package static var closed: CacheError { CacheError(.closed, "the cache was closed") }

    /// The error of a call for many entries, of which so many failed, this one first.
    func amongFailures(_ count: Int) -> CacheError {
        guard count > 1 else { return self }
        let others = count == 2 ? "another entry failed" : "\(count - 1) other entries failed"
        return CacheError(
            code,
            "\(message); \(others)",
            cache: cache,
            key: key,
            path: path,
            errorNumber: errorNumber,
            cause: cause
        )
    }
}

extension CacheError {
    package init(_ error: StoreError) {
        let code: Code =
            switch error.code {
            case .corrupted: .corrupted
            case .unsupportedVersion: .unsupportedVersion
            case .tooLarge: .tooLarge
            case .invalidDirectory: .invalidDirectory
            case .locked: .locked
            case .invalidArgument: .invalidKey
            case .closed: .closed
            case .forked: .forked
            case .unreachable: .unreachable
            case .cancelled: .cancelled
            case .foreign: .foreign
            default: .io
            }
        let place = error.path.isEmpty ? "" : " \(error.path)"
        self.init(
            code,
            "\(error.action)\(place): \(error.reason)",
            path: error.path.isEmpty ? nil : error.path,
            errorNumber: error.errorNumber,
            cause: error
        )
    }

    init(decoding error: ArchiveError, as type: Any.Type) {
        let isAnotherType = error.code == .typeMismatch || error.code == .classNotAllowed
        let isOutermost = error.keyPath.isEmpty || error.keyPath == [KeyedArchiver.rootKey]
        if isAnotherType, isOutermost {
            self.init(.typeMismatch, error.textWithoutValues, cause: error)
        } else {
            self.init(.decodingFailed, "it cannot be decoded as \(type): \(error.textWithoutValues)", cause: error)
        }
    }

    init(encoding error: ArchiveError) {
        self.init(.encodingFailed, error.textWithoutValues, cause: error)
    }
}

extension ArchiveError {
    /// As ``detail``, without values in it.
    fileprivate var textWithoutValues: String {
        // The standard library's sentence for a raw value that an enumeration does not have contains the value.
        if case .dataCorrupted(let context)? = cause as? DecodingError,
            context.underlyingError as? ArchiveError == nil
        {
            let refusal = ArchiveError(code, "the type's own decoding refused it", offset: offset, keyPath: keyPath)
            return refusal.textWithoutValues
        }
        return detail
    }
}
