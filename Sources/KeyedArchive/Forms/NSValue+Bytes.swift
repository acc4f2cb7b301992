import Foundation

// The memory that an NSValue holds has no bounds of its own: its type says how long it is.
//
// Why it is safe: both methods are called with types that `ValueForms` knows only, and with the number
// of bytes that these types have; Foundation copies that many and keeps no pointer.

extension NSValue {
    /// The value's bytes.
    ///
    /// - Parameter count: how many bytes a value of its type has.
    func bytes(count: Int) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        bytes.withUnsafeMutableBytes { buffer in
            guard let start = buffer.baseAddress else { return }
            #if canImport(Darwin)
                getValue(start, size: count)
            #else
                getValue(start)
            #endif
        }
        return bytes
    }

    /// A value of these bytes, as many as its type has, and at least one.
    static func make(_ bytes: [UInt8], objCType type: String) -> NSValue {
        bytes.withUnsafeBytes { buffer in
            guard let start = buffer.baseAddress else { preconditionFailure("a value without a size") }
            return NSValue(bytes: start, objCType: type)
        }
    }
}
