import Foundation
import KeyedArchive

// The forms of Foundation's classes.

extension SequentialArchiver {
    func write(text: String, _ cls: AnyClass = NSString.self, identity: AnyObject? = nil) {
        write(cls, identity: identity) {
            writer.write(type: UInt8(ascii: "+"))
            var text = text
            text.withUTF8 { writer.write(unshared: $0) }
        }
    }

    func write(_ number: StoredInteger, as type: IntegerType, identity: AnyObject? = nil) {
        write(NSNumber.self, identity: identity) {
            writer.write(type: UInt8(ascii: "*"))
            write(cString: [type.rawValue])
            writer.write(type: type.rawValue)
            writer.write(number, as: type)
        }
    }

    func write(_ number: Double, identity: AnyObject? = nil) {
        write(NSNumber.self, identity: identity) {
            writer.write(type: UInt8(ascii: "*"))
            write(cString: [UInt8(ascii: "d")])
            writer.write(type: UInt8(ascii: "d"))
            writer.write(number)
        }
    }

    func write(_ number: Float, identity: AnyObject? = nil) {
        write(NSNumber.self, identity: identity) {
            writer.write(type: UInt8(ascii: "*"))
            write(cString: [UInt8(ascii: "f")])
            writer.write(type: UInt8(ascii: "f"))
            writer.write(number)
        }
    }

    func write(data: Data, _ cls: AnyClass = NSData.self, identity: AnyObject? = nil) {
        write(cls, identity: identity) { write(dataParts: data) }
    }

    func write(date: Double, identity: AnyObject? = nil) {
        write(NSDate.self, identity: identity) {
            writer.write(type: UInt8(ascii: "d"))
            writer.write(date)
        }
    }

    func write(url: URL, identity: AnyObject? = nil) {
        write(NSURL.self, identity: identity) {
            let base = url.baseURL
            writer.write(type: UInt8(ascii: "c"))
            writer.write(raw: CollectionOfOne(base == nil ? 0 : 1))
            if let base { encode(base as Any?) }
            encode(url.relativeString as Any?)
        }
    }

    /// Writes a collection: its count, then its members one by one.
    func write(
        _ cls: AnyClass,
        count: Int,
        as type: IntegerType = .int32,
        identity: AnyObject? = nil,
        _ body: () -> Void
    ) {
        write(cls, identity: identity) {
            writer.write(type: type.rawValue)
            writer.write(.signed(Int64(count)), as: type)
            body()
        }
    }
}
