import Foundation

/// Asks its coder for a value of every scalar type, keyed and unkeyed.
public final class Scalars: NSObject, NSCoding {
    let flag: Bool
    let integer: Int
    let narrow: Int32
    let wide: Int64
    let float: Float
    let double: Double
    let bytes: [UInt8]
    let unkeyed: [NSObject]

    public init(_ seed: Int) {
        flag = seed.isMultiple(of: 2)
        integer = seed &* 0x1_0000_0001
        narrow = Int32(truncatingIfNeeded: ~seed)
        wide = Int64(seed) << 40
        float = Float(seed) / 3
        double = Double(seed) / 7
        bytes = Array("bytes \(seed)".utf8)
        unkeyed = [NSNumber(value: seed), NSNull()]
    }

    public required init?(coder: NSCoder) {
        flag = coder.decodeBool(forKey: "flag")
        integer = coder.decodeInteger(forKey: "integer")
        narrow = coder.decodeInt32(forKey: "narrow")
        wide = coder.decodeInt64(forKey: "wide")
        float = coder.decodeFloat(forKey: "float")
        double = coder.decodeDouble(forKey: "double")
        #if canImport(Darwin)
            var count = 0
            let start = coder.decodeBytes(forKey: "bytes", returnedLength: &count)
            bytes = Array(UnsafeBufferPointer(start: start, count: count))
        #else
            _ = coder.decodeCInt(forKey: "narrow")
            _ = coder.withDecodedUnsafeBytes(forKey: "bytes") { $0?.count }
            bytes = coder.withDecodedUnsafeBufferPointer(forKey: "bytes") { $0.map(Array.init) ?? [] }
        #endif
        unkeyed = [coder.decodeObject(), coder.decodeObject()].compactMap { $0 as? NSObject }
        _ = coder.decodeData()
        _ = coder.decodePropertyList(forKey: "double")
        _ = coder.containsValue(forKey: "$class")
    }

    public func encode(with coder: NSCoder) {
        coder.encode(flag, forKey: "flag")
        coder.encode(integer, forKey: "integer")
        coder.encode(narrow, forKey: "narrow")
        coder.encode(wide, forKey: "wide")
        coder.encode(float, forKey: "float")
        coder.encode(double, forKey: "double")
        bytes.withUnsafeBufferPointer {
            coder.encodeBytes($0.baseAddress, length: $0.count, forKey: "bytes")
        }
        for object in unkeyed { coder.encode(object) }
    }
}

extension Scalars: Described {
    var described: [(String, Any?)] {
        [
            ("flag", flag), ("integer", integer), ("narrow", narrow), ("wide", wide), ("float", float),
            ("double", double), ("bytes", Data(bytes)), ("unkeyed", unkeyed),
        ]
    }
}
