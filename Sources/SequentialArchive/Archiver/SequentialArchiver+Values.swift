import Foundation
import KeyedArchive

extension SequentialArchiver {
    /// Encodes several values as one group, as Objective-C's `encodeValuesOfObjCTypes:` does.
    ///
    /// - Parameters:
    ///   - types: the C types one after the other, such as `i@f`.
    ///   - addresses: the place of each value; as many as there are types.
    public func encodeValues(ofObjCTypes types: String, at addresses: [UnsafeRawPointer]) {
        if hasFailed { return }
        do throws(ArchiveError) {
            let list = try ValueType.list(Array(types.utf8))
            precondition(list.count == addresses.count, "\(addresses.count) addresses for the types \(types)")
            writer.write(shared: types)
            for (type, address) in zip(list, addresses) { try write(type, at: address) }
        } catch {
            record(error)
        }
    }

    func encode(type: [UInt8], at address: UnsafeRawPointer) {
        if hasFailed { return }
        do throws(ArchiveError) {
            let parsed = try ValueType.one(type)
            writer.write(shared: type)
            try write(parsed, at: address)
        } catch {
            record(error)
        }
    }

    func write(_ type: ValueType, at address: UnsafeRawPointer) throws(ArchiveError) {
        switch type {
        case .integer(let type): writer.write(type.load(from: address), as: type)
        case .float: writer.write(address.loadUnaligned(as: Float.self))
        case .double: writer.write(address.loadUnaligned(as: Double.self))
        case .object:
            let pointer = address.loadUnaligned(as: UnsafeRawPointer?.self)
            write(object: pointer.map { Unmanaged<AnyObject>.fromOpaque($0).takeUnretainedValue() })
        case .classObject:
            // The caller says that a class is there, which is the address of its metadata.
            if let cls = address.loadUnaligned(as: UnsafeRawPointer?.self).map({
                unsafeBitCast($0, to: AnyClass.self)
            }) {
                write(class: cls)
            } else {
                writer.write(tag: StreamTag.null)
            }
        case .cString:
            guard let text = address.loadUnaligned(as: UnsafePointer<CChar>?.self) else {
                return writer.write(tag: StreamTag.null)
            }
            write(cString: CStringBytes.of(text))
        case .selector:
            if let name = SelectorName.load(from: address) {
                writer.write(shared: name)
            } else {
                writer.write(tag: StreamTag.null)
            }
        case .array(let count, let element) where element.isByte:
            writer.write(raw: UnsafeRawBufferPointer(start: address, count: count))
        case .array, .structure:
            try type.forEachPart { part, offset throws(ArchiveError) in try write(part, at: address + offset) }
        case .omitted: break
        case .atom, .bytes:
            throw ArchiveError(.unsupportedType, "atoms and bytes have no C type: use encodeBytes(_:length:)")
        }
    }

    func write(cString bytes: [UInt8]) {
        if let number = graph[cString: bytes] { return writer.write(reference: number) }
        graph[cString: bytes] = writer.beginObject()
        writer.write(shared: bytes)
    }

    /// Writes a length and an array of bytes, as data is stored.
    func write(dataParts data: Data) {
        guard data.count <= Int(Int32.max) else {
            return record(ArchiveError(.limitExceeded, "data of more than 2 GiB"))
        }
        writer.write(type: UInt8(ascii: "i"))
        writer.write(integer: Int64(data.count))
        writer.write(shared: Array("[\(data.count)c]".utf8))
        writer.write(raw: data)
    }
}

/// The bytes of C strings.
enum CStringBytes {
    /// The bytes before the zero; the caller has promised that there is one.
    static func of(_ text: UnsafePointer<CChar>) -> [UInt8] {
        UnsafeBufferPointer(start: text, count: strlen(text)).map { UInt8(bitPattern: $0) }
    }
}
