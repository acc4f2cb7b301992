import Foundation

/// The way from a store to the system: every call on a file or a directory goes through it.
///
/// A test may be asked before each call. It can have the call fail, or read or write less, or first make a change that
/// another process might make just then. Without a test, all of this is one check for `nil`.
struct FileLayer: Sendable {
    /// The operation of a call.
    enum Operation: Sendable {
        case open, makeFile, makeDirectory, status, read, write, synchronize, close
        case rename, link, remove, lock, unlock, list, changeOwner
    }

    struct Call: Sendable {
        let operation: Operation
        /// The name in its directory, or the path, of the file or directory that the call is about.
        let name: String
        /// The other name, for those that give one.
        let newName: String?
    }

    enum Answer: Sendable {
        case proceed
        /// The call is not made, and fails with this error number.
        case fail(Int32)
        /// No more than so many bytes are read or written, but at least one; means nothing to other calls.
        case shorten(Int)
    }

    /// Is asked before each call, on the thread that makes it.
    var willCall: (@Sendable (Call) -> Answer)?

    /// Makes a call until no signal interrupts it, and throws any other error that it fails with.
    func call<Result: SignedInteger>(
        _ operation: Operation,
        _ name: String,
        newName: String? = nil,
        body: () -> Result
    ) throws(SystemError) -> Result {
        try transfer(operation, name, newName: newName, upTo: .max) { _ in body() }
    }

    /// As ``call(_:_:newName:body:)``, for calls that give `nil` when they fail, and also, but with the error
    /// number 0, at an end.
    func call<Pointer>(
        _ operation: Operation,
        _ name: String,
        pointer body: () -> Pointer?
    ) throws(SystemError) -> Pointer? {
        var pointer: Pointer?
        _ = try call(operation, name) { () -> Int32 in
            errno = 0
            pointer = body()
            return pointer == nil && errno != 0 ? -1 : 0
        }
        return pointer
    }

    /// As ``call(_:_:newName:body:)``, for calls that read or write up to `count` bytes.
    func transfer<Result: SignedInteger>(
        _ operation: Operation,
        _ name: String,
        newName: String? = nil,
        upTo count: Int,
        body: (_ count: Int) -> Result
    ) throws(SystemError) -> Result {
        while true {
            var count = count
            if let willCall {
                switch willCall(Call(operation: operation, name: name, newName: newName)) {
                case .proceed: break
                case .shorten(let limit): count = min(count, max(limit, 1))
                case .fail(EINTR): continue
                case .fail(let number): throw SystemError(number: number)
                }
            }
            let result = body(count)
            if result >= 0 { return result }
            if errno != EINTR { throw .last }
        }
    }

    /// Closes a descriptor, or a directory stream that holds one. It is closed even if that fails, so nothing tries
    /// again: the descriptor may be another file's by then.
    func close(_ name: String, _ body: () -> Int32) throws(SystemError) {
        let answer = willCall?(Call(operation: .close, name: name, newName: nil))
        var number = body() == 0 ? 0 : errno
        if case .fail(let injected) = answer { number = injected }
        if number != 0, number != EINTR { throw SystemError(number: number) }
    }
}
