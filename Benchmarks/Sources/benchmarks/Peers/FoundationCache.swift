import Foundation

/// `NSCache`, with strings as keys and values in boxes, as Swift code must use it.
///
/// `@unchecked Sendable`: `NSCache` guards itself, as its documentation says.
final class FoundationCache<Value: Sendable>: @unchecked Sendable {
    private final class Box {
        let value: Value

        init(_ value: Value) { self.value = value }
    }

    private let cache = NSCache<NSString, Box>()

    /// - Parameter capacity: the most entries, or 0 for no limit.
    init(capacity: Int = 0) {
        cache.countLimit = capacity
    }

    func value(forKey key: String) -> Value? {
        cache.object(forKey: key as NSString)?.value
    }

    func insert(_ value: Value, forKey key: String) {
        cache.setObject(Box(value), forKey: key as NSString)
    }
}
