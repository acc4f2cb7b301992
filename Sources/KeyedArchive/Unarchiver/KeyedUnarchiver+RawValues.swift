import Foundation

extension KeyedUnarchiver {
    func decodeRawValue(_ type: UnsafePointer<CChar>, at data: UnsafeMutableRawPointer) {
        if let single = RawValueType(type) {
            if single == .cString || single == .selector { return decodeText(as: single, at: data) }
            if single == .object {
                let object = decodeObject().map { Unmanaged.passRetained($0 as AnyObject).toOpaque() }
                data.storeBytes(of: object, as: UnsafeMutableRawPointer?.self)
                return
            }
            _ = nextUnkeyed { reference throws(ArchiveError) -> Void? in try store(reference, as: single, at: data)
            }
        } else if let (count, element) = RawValueType.array(type) {
            decode(arrayOf: element, count: count, at: data)
        } else {
            failWithError(RawValueType.unsupported)
        }
    }

    /// Stores the address of a text, which lives as long as this unarchiver, or the selector of that name.
    private func decodeText(as type: RawValueType, at address: UnsafeMutableRawPointer) {
        let object = decodeObject()
        if hasFailed { return }
        guard let object else { return address.storeBytes(of: nil, as: UnsafeMutablePointer<CChar>?.self) }
        guard let string = object as? String else { return failWithError(Self.noCString) }
        do throws(ArchiveError) {
            // Many values may share the text, and each is kept.
            try budget.spend(bytes: string.utf8.count)
        } catch {
            return failWithError(error)
        }
        let text = Array(string.utf8)
        if text.contains(0) { return failWithError(Self.noCString) }
        if type == .selector {
            SelectorName.store(text, at: address, keeping: keep(text:))
        } else {
            address.storeBytes(of: keep(text: text), as: UnsafeMutablePointer<CChar>?.self)
        }
    }

    private static let noCString = ArchiveError(
        .typeMismatch,
        "an object of another class, where a C string is expected"
    )

    private func keep(text: [UInt8]) -> UnsafeMutablePointer<CChar> {
        keep(text + [0]).mutableBytes.assumingMemoryBound(to: CChar.self)
    }

    func decodeRawArray(_ itemType: UnsafePointer<CChar>, count: Int, at array: UnsafeMutableRawPointer) {
        guard let element = RawValueType(itemType), element.isNumber, count >= 0 else {
            return failWithError(RawValueType.unsupported)
        }
        decode(arrayOf: element, count: count, at: array)
    }

    private func decode(arrayOf element: RawValueType, count: Int, at address: UnsafeMutableRawPointer) {
        _ = nextUnkeyed { reference throws(ArchiveError) -> Void? in
            guard let target = try source.resolve(reference) else { return nil }
            guard case .dictionary(let fields) = try source.list.object(target),
                case let uid = try classUID(of: fields, at: target),
                try classes.name(uid, in: source) == RawValueType.oldStyleArray.name
            else { throw mismatch("an array of numbers", target) }
            try budget.spend(fields.count)
            var scope = ArchiveScope(fields)
            guard let stored = try scope.value(of: "NS.count", in: source.list),
                try source.number(at: stored)?.integer(Int.self) == count
            else { throw mismatch("an array of \(count) numbers", target) }
            for index in 0..<count {
                guard let number = try scope.nextUnkeyed(in: source.list) else {
                    throw mismatch("an array of \(count) numbers", target)
                }
                try store(number, as: element, at: address + index * element.size)
            }
            return ()
        }
    }

    private func store(
        _ reference: BinaryPropertyList.Reference,
        as type: RawValueType,
        at address: UnsafeMutableRawPointer
    ) throws(ArchiveError) {
        guard let number = try source.number(at: reference) else { throw mismatch("a number", reference) }
        // Signed and unsigned types of a width have the same bytes for the numbers that both hold.
        func put<T>(_ value: T?) throws(ArchiveError) {
            guard let value else { throw misfit(number, reference, asked: T.self) }
            address.storeBytes(of: value, as: T.self)
        }
        switch type {
        case .int8: try put(number.integer(Int8.self))
        case .uint8: try put(number.integer(UInt8.self))
        case .int16: try put(number.integer(Int16.self))
        case .uint16: try put(number.integer(UInt16.self))
        case .int32, .long: try put(number.integer(Int32.self))
        case .uint32, .unsignedLong: try put(number.integer(UInt32.self))
        case .int64: try put(number.integer(Int64.self))
        case .uint64: try put(number.integer(UInt64.self))
        case .float: try put(number.float)
        case .double: try put(number.double)
        case .bool: try put(number.bool)
        case .object, .cString, .selector: break
        }
    }
}
