import Foundation

// Values by C type: numbers stand inline under the scope's own keys `$0`, `$1`, …; objects are referred to; C strings and
// selectors are objects of their text; an array of numbers is an object of the class `_NSKeyedCoderOldStyleArray`.

extension KeyedArchiver {
    func encodeRawValue(_ type: UnsafePointer<CChar>, at address: UnsafeRawPointer) {
        if let single = RawValueType(type) {
            switch single {
            case .object: append(writer.reference(to: object(at: address)))
            case .cString:
                let text = address.loadUnaligned(as: UnsafePointer<CChar>?.self).map { String(cString: $0) }
                encode(text as Any?)
            case .selector:
                encode(SelectorName.load(from: address).map { String(decoding: $0, as: UTF8.self) } as Any?)
            default: append(scalar(single, at: address))
            }
        } else if let (count, element) = RawValueType.array(type) {
            append(writer.reference(to: oldStyleArray(of: element, count: count, at: address)))
        } else {
            failWithError(RawValueType.unsupported)
        }
    }

    func encodeRawArray(_ type: UnsafePointer<CChar>, count: Int, at array: UnsafeRawPointer) {
        guard let element = RawValueType(type), element.isNumber, count >= 0 else {
            return failWithError(RawValueType.unsupported)
        }
        append(writer.reference(to: oldStyleArray(of: element, count: count, at: array)))
    }

    private func object(at address: UnsafeRawPointer) -> ArchiveWriter.UID {
        address.loadUnaligned(as: UnsafeRawPointer?.self).map {
            uid(of: Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue())
        } ?? 0
    }

    private func oldStyleArray(of element: RawValueType, count: Int, at address: UnsafeRawPointer)
        -> ArchiveWriter.UID
    {
        let uid = writer.reserveObject()
        writer.pushScope()
        writer.set("NS.count", writer.scalar(Int64(count)))
        writer.set("NS.size", writer.scalar(Int64(element.size)))
        writer.set("NS.type", writer.scalar(Int64(element.rawValue)))
        for index in 0..<count { writer.setUnkeyed(scalar(element, at: address + index * element.size)) }
        writer.popObject(uid, class: RawValueType.oldStyleArray)
        return uid
    }

    private func scalar(_ type: RawValueType, at address: UnsafeRawPointer) -> ArchiveWriter.Reference {
        switch type {
        case .int8: writer.scalar(Int64(address.loadUnaligned(as: Int8.self)))
        case .uint8: writer.scalar(Int64(address.loadUnaligned(as: UInt8.self)))
        case .int16: writer.scalar(Int64(address.loadUnaligned(as: Int16.self)))
        case .uint16: writer.scalar(Int64(address.loadUnaligned(as: UInt16.self)))
        case .int32, .long: writer.scalar(Int64(address.loadUnaligned(as: Int32.self)))
        case .uint32, .unsignedLong: writer.scalar(Int64(address.loadUnaligned(as: UInt32.self)))
        case .int64: writer.scalar(address.loadUnaligned(as: Int64.self))
        case .uint64: writer.scalar(address.loadUnaligned(as: UInt64.self))
        case .float: writer.scalar(address.loadUnaligned(as: Float.self))
        case .double: writer.scalar(address.loadUnaligned(as: Double.self))
        case .bool: writer.scalar(address.loadUnaligned(as: UInt8.self) != 0)
        case .object, .cString, .selector: 0
        }
    }
}
