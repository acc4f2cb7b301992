import Foundation

/// The names of selectors in memory.
package enum SelectorName {
    /// The name of the selector at an address; `nil` for none.
    package static func load(from address: UnsafeRawPointer) -> [UInt8]? {
        #if canImport(Darwin)
            return address.loadUnaligned(as: Selector?.self).map { Array(NSStringFromSelector($0).utf8) }
        #else
            return address.loadUnaligned(as: UnsafePointer<CChar>?.self).map { text in
                UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
            }
        #endif
    }

    /// Stores the selector of a name; `keep` keeps its text alive where a selector is a pointer to that.
    package static func store(
        _ name: [UInt8]?,
        at address: UnsafeMutableRawPointer,
        keeping keep: ([UInt8]) -> UnsafeMutablePointer<CChar>
    ) {
        #if canImport(Darwin)
            let selector = name.map { NSSelectorFromString(String(decoding: $0, as: UTF8.self)) }
            address.storeBytes(of: selector, as: Selector?.self)
        #else
            address.storeBytes(of: name.map(keep), as: UnsafeMutablePointer<CChar>?.self)
        #endif
    }
}
