import Foundation
import KeyedArchive

/// A type that the archiver writes itself, in the form in which Apple's archiver stores its Foundation class.
///
/// Foundation's own `encode(with:)` of these types would insist on Foundation's own archiver.
protocol SequentialIntrinsic {
    /// Writes the value as an object.
    func write(to archiver: SequentialArchiver)
}

// MARK: Strings, numbers, data

extension String: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(text: self) }
}

extension Substring: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(text: String(self)) }
}

extension NSString: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        let isMutable = isMutable(self, NSMutableString.self)
        archiver.write(text: String(self), isMutable ? NSMutableString.self : NSString.self, identity: self)
    }
}

extension Bool: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(.signed(self ? 1 : 0), as: .int8) }
}

extension Float: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(self) }
}

extension Double: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(self) }
}

extension CGFloat: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(Double(self)) }
}

/// An integer with an Objective-C type.
private protocol TypedInteger: SequentialIntrinsic, FixedWidthInteger {
    static var integerType: IntegerType { get }
}

extension TypedInteger {
    func write(to archiver: SequentialArchiver) {
        let stored =
            Int64(exactly: self).map { StoredInteger.signed($0) } ?? StoredInteger(UInt64(truncatingIfNeeded: self))
        archiver.write(stored, as: Self.integerType)
    }
}

extension Int: TypedInteger { fileprivate static var integerType: IntegerType { .int64 } }
extension Int8: TypedInteger { fileprivate static var integerType: IntegerType { .int8 } }
extension Int16: TypedInteger { fileprivate static var integerType: IntegerType { .int16 } }
extension Int32: TypedInteger { fileprivate static var integerType: IntegerType { .int32 } }
extension Int64: TypedInteger { fileprivate static var integerType: IntegerType { .int64 } }
extension UInt: TypedInteger { fileprivate static var integerType: IntegerType { .uint64 } }
extension UInt8: TypedInteger { fileprivate static var integerType: IntegerType { .uint8 } }
extension UInt16: TypedInteger { fileprivate static var integerType: IntegerType { .uint16 } }
extension UInt32: TypedInteger { fileprivate static var integerType: IntegerType { .uint32 } }
extension UInt64: TypedInteger { fileprivate static var integerType: IntegerType { .uint64 } }

extension NSValue: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        if let number = self as? NSNumber { return number.writeNumber(to: archiver) }
        guard let value = SpecialValue(of: self, String(cString: objCType)) else {
            return archiver.record(
                ArchiveError(
                    .unsupportedType,
                    "an NSValue that is not a number, point, size, rectangle or range has no form in archives without keys"
                )
            )
        }
        archiver.write(value, identity: self)
    }
}

extension CGPoint: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(.point(self)) }
}

extension CGSize: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(.size(self)) }
}

extension CGRect: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(.rect(self)) }
}

extension NSRange: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(.range(self)) }
}

extension NSNumber {
    fileprivate func writeNumber(to archiver: SequentialArchiver) {
        if self is NSDecimalNumber {
            return archiver.record(
                ArchiveError(.unsupportedType, "NSDecimalNumber has no form in archives without keys")
            )
        }
        switch UInt8(bitPattern: objCType.pointee) {
        case UInt8(ascii: "f"): archiver.write(floatValue, identity: self)
        case UInt8(ascii: "d"): archiver.write(doubleValue, identity: self)
        case UInt8(ascii: "Q"): archiver.write(StoredInteger(uint64Value), as: .uint64, identity: self)
        case UInt8(ascii: "B"), UInt8(ascii: "c"):
            archiver.write(.signed(int64Value), as: .int8, identity: self)
        case let letter:
            let value = StoredInteger.signed(int64Value)
            let type = Self.knowsItsType ? IntegerType(rawValue: letter) ?? .int64 : .int64
            archiver.write(value, as: type.holds(value) ? type : .int64, identity: self)
        }
    }

    /// Whether numbers keep the type that they were made of; elsewhere they name the smallest that holds them.
    private static var knowsItsType: Bool {
        #if canImport(Darwin)
            true
        #else
            false
        #endif
    }
}

extension Data: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(data: self) }
}

extension NSData: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        let isMutable = isMutable(self, NSMutableData.self)
        archiver.write(data: Data(referencing: self), isMutable ? NSMutableData.self : NSData.self, identity: self)
    }
}

// MARK: Values with a class of their own

extension Date: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(date: timeIntervalSinceReferenceDate) }
}

extension NSDate: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        archiver.write(date: timeIntervalSinceReferenceDate, identity: self)
    }
}

extension URL: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(url: self) }
}

extension NSURL: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(url: self as URL, identity: self) }
}

extension NSNull: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(NSNull.self, identity: self) {} }
}

// MARK: Collections

extension Array: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        archiver.write(NSArray.self, count: count) { for member in self { archiver.encode(member as Any?) } }
    }
}

extension NSArray: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        let cls: AnyClass = isMutable(self, NSMutableArray.self) ? NSMutableArray.self : NSArray.self
        archiver.write(cls, count: count, identity: self) { for member in self { archiver.encode(member as Any?) } }
    }
}

extension Set: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        archiver.write(NSSet.self, count: count, as: .uint32) {
            for member in self { archiver.encode(member as Any?) }
        }
    }
}

extension NSSet: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        if self is NSCountedSet {
            return archiver.record(
                ArchiveError(.unsupportedType, "NSCountedSet has no form in archives without keys")
            )
        }
        let cls: AnyClass = isMutable(self, NSMutableSet.self) ? NSMutableSet.self : NSSet.self
        archiver.write(cls, count: count, as: .uint32, identity: self) {
            for member in self { archiver.encode(member as Any?) }
        }
    }
}

extension Dictionary: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        archiver.write(NSDictionary.self, count: count) {
            for (key, value) in self {
                archiver.encode(key as Any?)
                archiver.encode(value as Any?)
            }
        }
    }
}

extension NSDictionary: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        let cls: AnyClass = isMutable(self, NSMutableDictionary.self) ? NSMutableDictionary.self : NSDictionary.self
        archiver.write(cls, count: count, identity: self) {
            for (key, value) in self {
                archiver.encode(key as Any?)
                archiver.encode(value as Any?)
            }
        }
    }
}

extension AnyHashable: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) { archiver.write(object: base) }
}

extension Optional: SequentialIntrinsic {
    /// An optional inside `Any` or a collection: `nil` is `NSNull`, as in Foundation.
    func write(to archiver: SequentialArchiver) {
        switch self {
        case .none: NSNull().write(to: archiver)
        case .some(let value): archiver.write(object: value)
        }
    }
}

// MARK: Text with attributes

extension NSAttributedString: SequentialIntrinsic {
    func write(to archiver: SequentialArchiver) {
        let isMutable = isMutable(self, NSMutableAttributedString.self)
        let cls: AnyClass = isMutable ? NSMutableAttributedString.self : NSAttributedString.self
        archiver.write(cls, identity: self) {
            archiver.encode(string as Any?)
            var known: [NSDictionary] = []
            var position = 0
            while position < length, !archiver.hasFailed {
                var range = NSRange()
                let attributes = attributes(at: position, effectiveRange: &range)
                let dictionary = Dictionary(uniqueKeysWithValues: attributes.map { ($0.key.rawValue, $0.value) })
                // The last ones only: many runs may have as many dictionaries.
                let found = known.suffix(16).lastIndex(of: dictionary as NSDictionary)
                archiver.writer.write(shared: "iI")
                archiver.writer.write(integer: Int64((found ?? known.count) + 1))
                archiver.writer.write(.signed(Int64(range.location + range.length - position)), as: .uint32)
                if found == nil {
                    known.append(dictionary as NSDictionary)
                    archiver.encode(dictionary as Any?)
                }
                position = range.location + range.length
            }
        }
    }
}

/// Whether an object of a class cluster is of the mutable kind.
private func isMutable<Mutable: NSObject>(_ object: NSObject, _ mutable: Mutable.Type) -> Bool {
    #if canImport(Darwin)
        // Those of CoreFoundation are of one class, a mutable one, and tell apart for coders only.
        return isSubclass(object.classForCoder, of: mutable)
    #else
        return object is Mutable
    #endif
}
