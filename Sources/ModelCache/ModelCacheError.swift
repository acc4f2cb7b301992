import Foundation
import TypedCache

/// An error of a model cache.
public struct ModelCacheError: Error, Sendable {
    /// The kind of failure. New codes may be added: always keep a `default` when switching.
    public struct Code: Hashable, Sendable, CustomStringConvertible {
        private enum Base: String {
            case invalidAccount, accountInUse, invalidModel, unknownModel, notFound, offline, noTransport,
                transport, status
            case decodingFailed, cursorRefused, notKept, storage, closed
        }

        private let base: Base

        /// The name of an account is empty or longer than 60 UTF-8 bytes.
        public static let invalidAccount = Code(base: .invalidAccount)
        /// Another ``Models`` of this process has the account open, or observers and objects for views of one
        /// that was dropped. That one is to be used, or to be closed or erased first.
        public static let accountInUse = Code(base: .accountInUse)
        /// The name of a model has characters that are not allowed, or two types have the same one. Told to `onFailure` alone, in
        /// debug builds: a type does not decode what it encodes.
        public static let invalidModel = Code(base: .invalidModel)
        /// The type was not given to the initializer.
        public static let unknownModel = Code(base: .unknownModel)
        /// The server has no such model (404, 410), and it was removed here too; or, without a `status`, a change that is not
        /// confirmed removes it.
        public static let notFound = Code(base: .notFound)
        /// Nothing is stored, and the cache is offline.
        public static let offline = Code(base: .offline)
        /// Nothing is stored, and the cache has no transport.
        public static let noTransport = Code(base: .noTransport)
        /// The transport failed; `cause` says why.
        public static let transport = Code(base: .transport)
        /// The server answered with another status; `status` has it, and ``decode(_:at:)`` the server's own words.
        public static let status = Code(base: .status)
        /// The model or list cannot decode the answer, and `cause` says why; or the answer is a model of another identity,
        /// and nothing of it is stored. Told to `onFailure` alone: a stored model or list cannot be read, and counts as
        /// missing.
        public static let decodingFailed = Code(base: .decodingFailed)
        /// The server no longer accepts the cursor of a page (400, 404, 410, 422). The list is stale: the next fetch
        /// loads it from the start.
        public static let cursorRefused = Code(base: .cursorRefused)
        /// The server forbids storing a page of a list (`no-store`), so there is no place from which the page after it could
        /// be asked for. Is never thrown: `onFailure` is told.
        public static let notKept = Code(base: .notKept)
        /// The disk failed, or a list's key or a model's identity is not 1 to 1,024 UTF-8 bytes long; `cause` is the
        /// `CacheError`, for a key with the code `.invalidKey`. Of an answer with such an identity nothing is stored. Told to
        /// `onFailure` alone: a stored entry is damaged, and counts as missing.
        public static let storage = Code(base: .storage)
        /// The cache was closed or erased.
        public static let closed = Code(base: .closed)

        /// The name of the code, such as `transport`.
        public var description: String { base.rawValue }

        /// Whether an error has this code, for patterns: `catch ModelCacheError.Code.notFound`.
        public static func ~= (code: Code, error: any Error) -> Bool { (error as? ModelCacheError)?.code == code }
    }

    /// The model, the models or the list that an error is about.
    public struct Subject: Hashable, Sendable, CustomStringConvertible {
        /// The name of the model's type, or of the list's elements; `nil` for a stored list that cannot be read.
        public let modelName: String?
        /// The identity of the model, as its key; `nil` for several models and for a list.
        public let key: String?
        /// The key of the list; `nil` for models.
        public let listKey: String?

        static func model<Model: CachedModel>(_ type: Model.Type, key: String) -> Subject {
            Subject(modelName: Model.modelName, key: key, listKey: nil)
        }

        static func models<Model: CachedModel>(_ type: Model.Type) -> Subject {
            Subject(modelName: Model.modelName, key: nil, listKey: nil)
        }

        static func list<List: ModelList>(_ list: List) -> Subject {
            Subject(modelName: List.Element.modelName, key: nil, listKey: list.listKey)
        }

        static func list(key: String) -> Subject { Subject(modelName: nil, key: nil, listKey: key) }

        /// The model or list in words, such as `user 7`.
        public var description: String {
            let name = modelName ?? ""
            if let listKey {
                let list = "list \(ModelCacheError.line(listKey))"
                return modelName == nil ? list : "the \(list) of \(name)"
            }
            return key.map { "\(name) \(ModelCacheError.line($0))" } ?? "several of \(name)"
        }
    }

    /// The kind of failure.
    public let code: Code
    /// The failure and its remedy, for people; for `.decodingFailed` and `.transport` with the cause in some words: the place
    /// in the answer, say. Of models and lists it contains names and keys, never a field but the identity.
    public let message: String
    /// The model, the models or the list that could not be loaded or read; `nil` where the error is about the cache or the
    /// account.
    public let subject: Subject?
    /// The server's status, for `.status`, `.notFound` and `.cursorRefused`.
    public let status: Int?
    /// The error that led to this one; of a transport that threw the answer, its own (``ModelResponseError``).
    public let cause: (any Error)?
    /// The moment before which the server wants no further request (`Retry-After`), at most an hour after its answer; `nil` if it
    /// did not say. Until then fetches but those with ``FetchMode/reload`` throw this error, or return the stale value,
    /// without a request.
    public let retryAt: Date?
    private let answer: ModelBody?

    init(
        _ code: Code,
        _ message: String,
        of subject: Subject? = nil,
        status: Int? = nil,
        cause: (any Error)? = nil,
        answer: ModelBody? = nil,
        retryAt: Date? = nil
    ) {
        self.code = code
        self.answer = answer
        self.retryAt = retryAt
        self.subject = subject
        let isExplained = code == .decodingFailed || code == .transport
        let words = isExplained ? cause.map(Self.words) : nil
        self.message = words.map { "\(message): \($0)" } ?? message
        self.status = status
        self.cause = cause
    }

    static var ended: ModelCacheError { ModelCacheError(.closed, "the cache was closed or erased") }

    init(_ error: CacheError) {
        self.init(error.code == .closed ? .closed : .storage, "\(error.localizedDescription)", cause: error)
    }
}

extension ModelCacheError {
    /// The headers of the server's answer, for errors with a ``status``; empty without one.
    public var headers: ModelHeaders { answer?.headers ?? [:] }

    /// The body of the server's answer, its first 64 KiB; empty for errors without a ``status``. It may have words or values that
    /// are not for a log.
    public var body: Data { answer?.data ?? Data() }

    /// Decodes the server's own form of an error from JSON, as the cache's answers are decoded.
    ///
    /// ```swift
    /// catch let error as ModelCacheError where error.code == .status {
    ///     show(try error.decode(Problem.self).title)
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - type: the value's type.
    ///   - path: as for ``ModelBody/decode(_:at:)``.
    /// - Throws: `DecodingError`, also where there is no answer.
    public func decode<Value: Decodable>(_ type: Value.Type, at path: String...) throws -> Value {
        try (answer ?? ModelBody(Data())).decode(type, at: path)
    }
}

extension ModelCacheError: CustomStringConvertible, LocalizedError {
    /// The code and the message.
    public var description: String { "\(code): \(message)" }
    /// The message.
    public var errorDescription: String? { message }
}

/// Has errors of a cache thrown as the model cache's own.
func wrappingCacheErrors<Result>(
    _ body: () throws(CacheError) -> Result
) throws(ModelCacheError) -> Result {
    do throws(CacheError) {
        return try body()
    } catch {
        throw ModelCacheError(error)
    }
}
