import Foundation

// Values that need no conformance by the program: each is archived as Foundation archives it.

extension String: Encoded {}
extension Bool: Encoded {}
extension Int: Encoded {}
extension Int8: Encoded {}
extension Int16: Encoded {}
extension Int32: Encoded {}
extension Int64: Encoded {}
extension UInt: Encoded {}
extension UInt8: Encoded {}
extension UInt16: Encoded {}
extension UInt32: Encoded {}
extension UInt64: Encoded {}
extension Float: Encoded {}
extension Double: Encoded {}
extension Data: Encoded {}
extension Date: Encoded {}
extension Decimal: Encoded {}
extension URL: Encoded {}
extension UUID: Encoded {}

extension Array: Encoded where Element: Codable {}
extension Set: Encoded where Element: Codable {}
extension Dictionary: Encoded where Key: Codable, Value: Codable {}
/// A cached `nil` is a value: a fetch returns it as `.some(nil)`. Of an optional within an optional, a value that is
/// `.some(nil)` is refused with `.encodingFailed`, since archives do not tell it from `nil`.
extension Optional: Encoded where Wrapped: Codable {}
