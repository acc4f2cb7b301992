import Dispatch
import Foundation

/// The way from a store to the system: every call on a file or a directory goes through it.
///
/// A test may be asked before each call. It can have the call fail, or read or write less, or first make a change that
/// another process might make just then, or answer the call in the system's place. Without a test, all of this is one
/// check for `nil`.
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
        /// The other name, for calls with two names.
        let newName: String?
        /// The call with its operands.
        let system: SystemCall
    }

    enum Answer: Sendable {
        case proceed
        /// The call is not made, and fails with this error number.
        case fail(Int32)
        /// No more than so many bytes are read or written, but at least one; means nothing to other calls.
        case shorten(Int)
        /// The call is not made, and returns this: a volume of the test has answered it.
        case done(Int)
    }

    /// A test's part: its closure, its time and chance, its pool. One reference, so that an open file is no larger for it.
    private final class Test: Sendable {
        let willCall: @Sendable (Call) -> Answer
        let world: (any SimulatedWorld)?
        let pool: DescriptorPool?

        init(
            _ willCall: @escaping @Sendable (Call) -> Answer,
            _ world: (any SimulatedWorld)?,
            _ pool: DescriptorPool?
        ) {
            self.willCall = willCall
            self.world = world
            self.pool = pool
        }
    }

    private let test: Test?

    init() { test = nil }

    /// - Parameters:
    ///   - world: the time and the chance of a simulation; `nil`: the system's.
    ///   - pool: the pool of the test's stores; `nil`: they stay open.
    ///   - willCall: is asked before each call, on the thread that makes it.
    init(
        world: (any SimulatedWorld)? = nil,
        pool: DescriptorPool? = nil,
        _ willCall: @escaping @Sendable (Call) -> Answer = { _ in .proceed }
    ) {
        test = Test(willCall, world, pool)
    }

    /// The simulation that the store is in; `nil` outside of one.
    var world: (any SimulatedWorld)? { test?.world }

    /// The pool that may suspend stores of this layer; `nil`: they stay open.
    var pool: DescriptorPool? {
        if let test { test.pool } else { DescriptorPool.shared }
    }

    /// Whether queues run by themselves: neither in a forked process nor in a simulation.
    var hasQueues: Bool { StoreUsage.hasQueues && world == nil }

    /// As ``StoreUsage/start(on:_:)``; in a simulation, `body` has run before this returns.
    func start(on queue: DispatchQueue, _ body: @escaping @Sendable () -> Void) {
        if world == nil { StoreUsage.start(on: queue, body) } else { body() }
    }

    /// Makes a call until no signal interrupts it, and throws any other error that it fails with.
    func call<Result: SignedInteger>(
        _ system: @autoclosure () -> SystemCall,
        _ name: String,
        newName: String? = nil,
        body: () -> Result
    ) throws(SystemError) -> Result {
        try transfer(system(), name, newName: newName, upTo: .max) { _ in body() }
    }

    /// As ``call(_:_:newName:body:)``, for calls that give `nil` when they fail, and also, but with the error
    /// number 0, at an end.
    ///
    /// - Parameter pointer: makes the pointer of an address that a test's volume has answered with.
    func call<Pointer>(
        _ system: @autoclosure () -> SystemCall,
        _ name: String,
        at pointer: (_ address: Int) -> Pointer?,
        body: () -> Pointer?
    ) throws(SystemError) -> Pointer? {
        var result: Pointer?
        var isMade = false
        let address = try call(system(), name) { () -> Int in
            errno = 0
            result = body()
            isMade = true
            return result == nil && errno != 0 ? -1 : 0
        }
        return isMade ? result : pointer(address)
    }

    /// As ``call(_:_:newName:body:)``, for calls that read or write up to `count` bytes.
    func transfer<Result: SignedInteger>(
        _ system: @autoclosure () -> SystemCall,
        _ name: String,
        newName: String? = nil,
        upTo count: Int,
        body: (_ count: Int) -> Result
    ) throws(SystemError) -> Result {
        while true {
            var count = count
            if let test {
                switch test.willCall(Call(system(), name: name, newName: newName)) {
                case .proceed: break
                case .done(let result): return Result(truncatingIfNeeded: result)
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
    func close(
        _ system: @autoclosure () -> SystemCall,
        _ name: String,
        _ body: () -> Int32
    ) throws(SystemError) {
        let answer = test?.willCall(Call(system(), name: name))
        if case .done = answer { return }
        var number = body() == 0 ? 0 : errno
        if case .fail(let injected) = answer { number = injected }
        if number != 0, number != EINTR { throw SystemError(number: number) }
    }
}

extension FileLayer.Call {
    fileprivate init(_ system: SystemCall, name: String, newName: String? = nil) {
        self.init(operation: system.operation, name: name, newName: newName, system: system)
    }
}
