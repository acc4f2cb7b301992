import Foundation

/// A type that the archiver writes itself, in the form in which Apple's archiver stores its Foundation class.
///
/// Foundation's own `encode(with:)` of these types would insist on Foundation's own archiver.
protocol ArchiveIntrinsic {
    /// Writes the value as an object and returns its place.
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID
}

// MARK: Strings, numbers, data

extension String: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archiver.string(self) }
}

extension Substring: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { archiver.string(String(self)) }
}

extension NSString: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let text = String(self)
        guard isMutable(self, NSMutableString.self) else { return archiver.string(text) }
        return archiver.place(of: self) { uid in
            archiver.fillObject(uid, as: .of(NSMutableString.self), [("NS.string", archiver.writer.string(text))])
        }
    }
}

extension Bool: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.writer.addObject(archiver.writer.scalar(self))
    }
}

extension Float: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.writer.addObject(archiver.writer.scalar(self))
    }
}

extension Double: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.writer.addObject(archiver.writer.scalar(self))
    }
}

extension CGFloat: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID { Double(self).archive(into: archiver) }
}

extension ArchiveIntrinsic where Self: FixedWidthInteger {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let scalar =
            Int64(exactly: self).map { archiver.writer.scalar($0) }
            ?? archiver.writer.scalar(UInt64(truncatingIfNeeded: self))
        return archiver.writer.addObject(scalar)
    }
}

extension Int: ArchiveIntrinsic {}
extension Int8: ArchiveIntrinsic {}
extension Int16: ArchiveIntrinsic {}
extension Int32: ArchiveIntrinsic {}
extension Int64: ArchiveIntrinsic {}
extension UInt: ArchiveIntrinsic {}
extension UInt8: ArchiveIntrinsic {}
extension UInt16: ArchiveIntrinsic {}
extension UInt32: ArchiveIntrinsic {}
extension UInt64: ArchiveIntrinsic {}

// NSValue, its superclass, has the conformance for both.
extension NSNumber {
    func archiveNumber(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        if let decimal = self as? NSDecimalNumber { return decimal.archiveDecimal(into: archiver) }
        return archiver.shared(self) { number in
            switch UInt8(bitPattern: number.objCType.pointee) {
            case UInt8(ascii: "c"), UInt8(ascii: "B"):
                // A Boolean is stored as a signed char; numbers of that width are not NSNumber's own choice.
                number.isBoolean
                    ? number.boolValue.archive(into: archiver) : number.int64Value.archive(into: archiver)
            case UInt8(ascii: "f"): number.floatValue.archive(into: archiver)
            case UInt8(ascii: "d"): number.doubleValue.archive(into: archiver)
            case UInt8(ascii: "Q"): number.uint64Value.archive(into: archiver)
            default: number.int64Value.archive(into: archiver)
            }
        }
    }

    private var isBoolean: Bool {
        #if canImport(Darwin)
            return CFGetTypeID(self) == CFBooleanGetTypeID()
        #else
            return self === NSNumber(value: true) || self === NSNumber(value: false)
                || UInt8(bitPattern: objCType.pointee) == UInt8(ascii: "B")
        #endif
    }
}

extension Data: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.writer.addObject(withUnsafeBytes { archiver.writer.scalar($0) })
    }
}

extension NSData: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        guard isMutable(self, NSMutableData.self) else { return Data(referencing: self).archive(into: archiver) }
        return archiver.place(of: self) { uid in
            let bytes = UnsafeRawBufferPointer(start: bytes, count: length)
            archiver.fillObject(uid, as: .of(NSMutableData.self), [("NS.data", archiver.writer.scalar(bytes))])
        }
    }
}

// MARK: Values with a class of their own

extension Date: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let writer = archiver.writer
        let uid = writer.reserveObject()
        let start = writer.fieldStart
        writer.add(.time, writer.scalar(timeIntervalSinceReferenceDate))
        writer.end(uid, class: .date, from: start)
        return uid
    }
}

extension UUID: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let writer = archiver.writer
        let uid = writer.reserveObject()
        let start = writer.fieldStart
        writer.add(.uuidBytes, withUnsafeBytes(of: uuid) { writer.scalar($0) })
        writer.end(uid, class: .uuid, from: start)
        return uid
    }
}

extension URL: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        Self.archive(relativeString, relativeTo: baseURL, into: archiver)
    }

    static func archive(
        _ text: String,
        relativeTo base: URL?,
        into archiver: KeyedArchiver
    ) -> ArchiveWriter.UID {
        let writer = archiver.writer
        let uid = writer.reserveObject()
        guard archiver.enter() else { return 0 }
        defer { archiver.leave() }
        let start = writer.fieldStart
        let base = base?.archive(into: archiver) ?? 0
        writer.add(.base, writer.reference(to: base))
        let relative = archiver.string(text)
        writer.add(.relative, writer.reference(to: relative))
        writer.end(uid, class: .url, from: start)
        return uid
    }
}

extension NSNull: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.place(of: self) { archiver.fillObject($0, as: .of(NSNull.self), []) }
    }
}

extension NSDate: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.place(of: self) { uid in
            let time = archiver.writer.scalar(timeIntervalSinceReferenceDate)
            archiver.fillObject(uid, as: .of(NSDate.self), [("NS.time", time)])
        }
    }
}

extension NSUUID: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.shared(self) { UUID(uuidString: $0.uuidString)?.archive(into: archiver) ?? 0 }
    }
}

extension NSURL: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        // Its own parts: where there is no Objective-C, a conversion to `URL` loses the base.
        archiver.shared(self) { URL.archive($0.relativeString, relativeTo: $0.baseURL, into: archiver) }
    }
}

extension Optional: ArchiveIntrinsic {
    /// An optional inside `Any` or a collection: `nil` is `NSNull`, as in Foundation.
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        switch self {
        case .none: NSNull().archive(into: archiver)
        case .some(let value): archiver.uid(of: value)
        }
    }
}

/// Whether an object of a class cluster is of the mutable kind.
@inline(__always)
func isMutable<Mutable: NSObject>(_ object: NSObject, _ mutable: Mutable.Type) -> Bool {
    #if canImport(Darwin)
        // Those of CoreFoundation are of one class, a mutable one, and tell apart for coders only.
        return isSubclass(object.classForCoder, of: mutable)
    #else
        return object is Mutable
    #endif
}
