import Foundation

/// The bytes of a key, which are overwritten when the last reference to them goes.
///
/// Unsafe code, and why it is sound: the memory is made in `init`, never changed after it, and freed in `deinit` by the
/// same object; a closure that is lent the bytes cannot outlive the call.
///
/// `@unchecked Sendable`: nothing changes after `init`.
package final class SecretBytes: @unchecked Sendable {
    private let bytes: UnsafeMutableRawBufferPointer

    /// - Parameter fill: writes all of the bytes, which are zeros before.
    package init(count: Int, _ fill: (UnsafeMutableRawBufferPointer) -> Void) {
        bytes = .allocate(byteCount: count, alignment: 16)
        bytes.initializeMemory(as: UInt8.self, repeating: 0)
        fill(bytes)
    }

    /// A copy of bytes, which stay where they are.
    package convenience init(_ source: some Collection<UInt8>) {
        self.init(count: source.count) { $0.copyBytes(from: source) }
    }

    deinit {
        Self.wipe(bytes)
        bytes.deallocate()
    }

    package var count: Int { bytes.count }

    package func withUnsafeBytes<Result, Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(self) {} }
        return try body(UnsafeRawBufferPointer(bytes))
    }

    /// Overwrites bytes in a way that the compiler does not leave out.
    package static func wipe(_ bytes: UnsafeMutableRawBufferPointer) {
        guard let start = bytes.baseAddress else { return }
        #if canImport(Darwin)
            _ = memset_s(start, bytes.count, 0, bytes.count)
        #else
            explicit_bzero(start, bytes.count)
        #endif
    }
}

extension SecretBytes: CustomStringConvertible, CustomReflectable {
    /// Never the bytes.
    package var description: String { "\(count) secret bytes" }
    package var customMirror: Mirror { Mirror(self, children: []) }
}
