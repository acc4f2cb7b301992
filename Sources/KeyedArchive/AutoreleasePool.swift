#if canImport(Darwin)
    import Foundation
#endif

/// Runs `body`; on Apple platforms, the Foundation objects that it made and that nothing refers to are freed at its
/// end.
///
/// A thread of the program's own may have no pool that is ever emptied.
@inline(__always)
func withAutoreleasePool<Value>(_ body: () throws(ArchiveError) -> Value) throws(ArchiveError) -> Value {
    #if canImport(Darwin)
        return try autoreleasepool { Result { () throws(ArchiveError) in try body() } }.get()
    #else
        return try body()
    #endif
}
