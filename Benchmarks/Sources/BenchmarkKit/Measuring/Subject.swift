import CMeasuring

/// One way to do a piece of work.
///
/// Public, as `blackHole` is, since only public code can be specialized in another module: an operation that does
/// nothing costs 1.2 ns then, and 7.3 ns otherwise, which is a good part of a memory hit.
public struct Subject {
    public let name: String
    /// Whether this is the package's own way. The first one that is ours is the reference for all ratios.
    public let isOurs: Bool
    /// The size of the work's result, if that says something.
    public let bytes: Int?
    /// How often the work may be repeated in one sample at most.
    public let limit: Int
    /// Called before each sample with the indices that it will have; not timed.
    public let prepare: ((Range<Int>) throws -> Void)?
    /// Called after each sample; not timed.
    public let cleanup: (() throws -> Void)?
    /// Does only the other work that `perform` includes: its time and allocations are taken off, sample by sample.
    public let besides: ((Range<Int>) throws -> Void)?
    /// Does the work once for each index. Indices go up from 0 and never come again.
    public let perform: (Range<Int>) throws -> Void

    /// - Parameter operation: does the work once; told how often it was done before. Its result is used up.
    ///
    /// Inlinable so that the loop and the operation are optimized together.
    @inlinable
    public init<Result>(
        _ name: String,
        isOurs: Bool = false,
        bytes: Int? = nil,
        limit: Int = .max,
        prepare: ((Range<Int>) throws -> Void)? = nil,
        cleanup: (() throws -> Void)? = nil,
        operation: @escaping (_ index: Int) throws -> Result
    ) {
        self.init(
            name: name,
            isOurs: isOurs,
            bytes: bytes,
            limit: limit,
            prepare: prepare,
            cleanup: cleanup,
            besides: nil,
            perform: { indices in for index in indices { blackHole(try operation(index)) } }
        )
    }

    /// A way that cannot be had without something else, which is measured right after it and taken off.
    @inlinable
    public static func difference<Whole, Part>(
        _ name: String,
        isOurs: Bool = false,
        bytes: Int? = nil,
        limit: Int = .max,
        of operation: @escaping (_ index: Int) throws -> Whole,
        besides: @escaping (_ index: Int) throws -> Part
    ) -> Subject {
        Subject(
            name: name,
            isOurs: isOurs,
            bytes: bytes,
            limit: limit,
            prepare: nil,
            cleanup: nil,
            besides: { indices in for index in indices { blackHole(try besides(index)) } },
            perform: { indices in for index in indices { blackHole(try operation(index)) } }
        )
    }

    /// A way that does its own repeating, as several threads would, say. Its results must not be left unused: give
    /// them to ``blackHole(_:)``.
    public static func batch(
        _ name: String,
        isOurs: Bool = false,
        bytes: Int? = nil,
        limit: Int = .max,
        prepare: ((Range<Int>) throws -> Void)? = nil,
        cleanup: (() throws -> Void)? = nil,
        perform: @escaping (_ indices: Range<Int>) throws -> Void
    ) -> Subject {
        Subject(
            name: name,
            isOurs: isOurs,
            bytes: bytes,
            limit: limit,
            prepare: prepare,
            cleanup: cleanup,
            besides: nil,
            perform: perform
        )
    }

    @usableFromInline
    init(
        name: String,
        isOurs: Bool,
        bytes: Int?,
        limit: Int,
        prepare: ((Range<Int>) throws -> Void)?,
        cleanup: (() throws -> Void)?,
        besides: ((Range<Int>) throws -> Void)?,
        perform: @escaping (Range<Int>) throws -> Void
    ) {
        self.name = name
        self.isOurs = isOurs
        self.bytes = bytes
        self.limit = limit
        self.prepare = prepare
        self.cleanup = cleanup
        self.besides = besides
        self.perform = perform
    }
}

/// Takes a result, so that the optimizer cannot leave out the work that made it.
///
/// It goes to a function in C, into which the optimizer cannot see. Of a Swift function the optimizer finds out that
/// it does nothing, even if it is never inlined, and leaves out the call and the work that made its argument.
@inlinable
public func blackHole<T>(_ value: T) {
    withUnsafePointer(to: value) { black_hole_take($0) }
}
