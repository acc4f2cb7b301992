#if !canImport(Darwin)
    import CInstance
    import Foundation
    import Synchronization

    /// The stored properties of a class with an empty value in each: nil, 0, an empty string or collection.
    ///
    /// Why writing them is sound: the runtime's own description says of which type each property is and where it
    /// lies, and each value is stored as that type. `checkCoverage` finds gaps, so that no property is left out. Only
    /// values that are bits without an owner are used: zero, `nil`, an enumeration's first case, and the empty string
    /// and collections, which are constants that are never freed. A `weak` or `unowned` optional is nil when it is
    /// zero, like a strong one. A structure is filled property by property, so one with a pointer, a class or a
    /// closure inside is refused like the class that holds it.
    ///
    /// Unchecked: nothing changes after `init`.
    final class PlaceholderLayout: @unchecked Sendable {
        /// The bytes in front of an instance's properties: its class and its reference counts.
        static let headerSize = 16

        let name: String
        let metadata: UnsafeRawPointer
        /// The bytes of all properties of an empty instance.
        let properties: [UInt8]

        private static let known = Mutex<[ObjectIdentifier: PlaceholderLayout]>([:])

        /// - Throws: `.cyclicReference` if a property has no empty value.
        static func of(_ cls: AnyClass) throws(ArchiveError) -> PlaceholderLayout {
            if let found = known.withLock({ $0[ObjectIdentifier(cls)] }) { return found }
            let made = try PlaceholderLayout(cls)
            known.withLock { $0[ObjectIdentifier(cls)] = made }
            return made
        }

        private init(_ cls: AnyClass) throws(ArchiveError) {
            name = ClassNames.name(of: cls)
            // A class is the address of its metadata.
            metadata = unsafeBitCast(cls, to: UnsafeRawPointer.self)
            guard cls is NSObject.Type else {
                throw ArchiveError(.cyclicReference, "\(name) refers to itself, and is not a subclass of NSObject")
            }
            var layout = EmptyLayout(size: instance_size(metadata), start: Self.headerSize)
            try layout.addProperties(of: cls, at: 0, path: name)
            try layout.checkCoverage(name)
            properties = Array(layout.bytes.dropFirst(Self.headerSize))
        }
    }

    /// Collects the empty values of a type's stored properties.
    private struct EmptyLayout {
        private(set) var bytes: [UInt8]
        /// Where values were stored, and how their types are aligned.
        private var extents: [(range: Range<Int>, alignment: Int)]

        init(size: Int, start: Int) {
            bytes = [UInt8](repeating: 0, count: size)
            extents = [(0..<start, start)]
        }

        mutating func addProperties(of type: Any.Type, at base: Int, path: String) throws(ArchiveError) {
            for index in 0..<propertyCount(type) {
                var description = PropertyDescription()
                let propertyType = property(type, index: index, description: &description)
                let name = description.name.map { String(cString: $0) } ?? "?"
                description.free?(description.name)
                let offset = base + propertyOffset(type, index: index)
                try add(propertyType, isStrong: description.isStrong, at: offset, path: "\(path).\(name)")
            }
        }

        private mutating func add(
            _ type: Any.Type,
            isStrong: Bool,
            at offset: Int,
            path: String
        ) throws(ArchiveError) {
            func layout<T>(_ type: T.Type) -> (Int, Int) { (MemoryLayout<T>.size, MemoryLayout<T>.alignment) }
            let (size, alignment) = _openExistential(type, do: layout)
            let extent = offset..<offset + size
            guard extent.lowerBound >= PlaceholderLayout.headerSize, extent.upperBound <= bytes.count else {
                throw ArchiveError(.cyclicReference, "\(path) lies outside its object")
            }
            if size == 0 { return }
            if let empty = type as? any EmptyValue.Type {
                extents.append((extent, alignment))
                // A reference that is not strong is stored as something else; it is nil when it is zero.
                if isStrong { empty.store(in: &bytes, at: offset) }
            } else if isStrong, Kind(of: type) == .structure, !(type is any PointerLike.Type),
                propertyCount(type) > 0
            {
                let before = extents.count
                try addProperties(of: type, at: offset, path: path)
                try checkCoverage(path, of: extent, from: before)
            } else if isStrong, Kind(of: type) == .enumeration, extent.count <= 1, isPlain(type) {
                // A byte of zero is the first case.
                extents.append((extent, alignment))
            } else {
                throw ArchiveError(
                    .cyclicReference,
                    """
                    an object refers to itself before it is complete, which \(path) does not allow: only optional, \
                    plain, string and collection properties do
                    """
                )
            }
        }

        private func isPlain(_ type: Any.Type) -> Bool {
            func isPlain<T>(_ type: T.Type) -> Bool { _isPOD(type) }
            return _openExistential(type, do: isPlain)
        }

        /// The kind of a type, as the runtime has it in the first word of the type's metadata, whose address the type is.
        private enum Kind: Int {
            case structure = 0x200
            case enumeration = 0x201

            init?(of type: Any.Type) {
                self.init(rawValue: unsafeBitCast(type, to: UnsafePointer<Int>.self).pointee)
            }
        }

        /// Checks that the properties leave gaps for alignment only.
        func checkCoverage(_ name: String) throws(ArchiveError) {
            try checkCoverage(name, of: 0..<bytes.count, from: 0)
        }

        private func checkCoverage(_ name: String, of extent: Range<Int>, from first: Int) throws(ArchiveError) {
            var end = extent.lowerBound
            var isWhole = true
            for next in extents[first...].sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
                if next.range.lowerBound - end >= max(next.alignment, 1) { isWhole = false }
                end = max(end, next.range.upperBound)
            }
            guard isWhole, end == extent.upperBound else {
                throw ArchiveError(
                    .cyclicReference,
                    "an object refers to itself, and not all properties of \(name) are known"
                )
            }
        }
    }

    /// A type with an empty value that is bits without an owner.
    private protocol EmptyValue {
        static var empty: Self { get }
    }

    extension EmptyValue {
        fileprivate static func store(in bytes: inout [UInt8], at offset: Int) {
            withUnsafeBytes(of: empty) { value in
                for index in value.indices { bytes[offset + index] = value[index] }
            }
        }
    }

    extension EmptyValue where Self: ExpressibleByIntegerLiteral {
        fileprivate static var empty: Self { 0 }
    }
    extension Int: EmptyValue {}
    extension Int8: EmptyValue {}
    extension Int16: EmptyValue {}
    extension Int32: EmptyValue {}
    extension Int64: EmptyValue {}
    extension UInt: EmptyValue {}
    extension UInt8: EmptyValue {}
    extension UInt16: EmptyValue {}
    extension UInt32: EmptyValue {}
    extension UInt64: EmptyValue {}
    extension Float: EmptyValue {}
    extension Double: EmptyValue {}
    extension Bool: EmptyValue {
        fileprivate static var empty: Bool { false }
    }
    extension UUID: EmptyValue {
        fileprivate static var empty: UUID { UUID(uuid: (0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)) }
    }
    extension Decimal: EmptyValue {
        fileprivate static var empty: Decimal { Decimal() }
    }
    extension Optional: EmptyValue {
        fileprivate static var empty: Wrapped? { nil }
    }
    extension String: EmptyValue {
        fileprivate static var empty: String { "" }
    }
    extension Array: EmptyValue {
        fileprivate static var empty: [Element] { [] }
    }
    extension ContiguousArray: EmptyValue {
        fileprivate static var empty: ContiguousArray<Element> { [] }
    }
    extension Dictionary: EmptyValue {
        fileprivate static var empty: [Key: Value] { [:] }
    }
    extension Set: EmptyValue {
        fileprivate static var empty: Set<Element> { [] }
    }
    extension Data: EmptyValue {
        fileprivate static var empty: Data { Data() }
    }

    /// Types with an address as their plain bits: zero has no meaning for them.
    private protocol PointerLike {}
    extension UnsafePointer: PointerLike {}
    extension UnsafeMutablePointer: PointerLike {}
    extension UnsafeRawPointer: PointerLike {}
    extension UnsafeMutableRawPointer: PointerLike {}
    extension OpaquePointer: PointerLike {}
    extension Unmanaged: PointerLike {}

    // The runtime's description of types, as the standard library's `Mirror` reads it.

    private struct PropertyDescription {
        var name: UnsafePointer<CChar>?
        var free: (@convention(c) (UnsafePointer<CChar>?) -> Void)?
        var isStrong = false
        var isVariable = false
    }

    @_silgen_name("swift_reflectionMirror_recursiveCount")
    private func propertyCount(_: Any.Type) -> Int

    @_silgen_name("swift_reflectionMirror_recursiveChildMetadata")
    private func property(
        _: Any.Type,
        index: Int,
        description: UnsafeMutablePointer<PropertyDescription>
    ) -> Any.Type

    @_silgen_name("swift_reflectionMirror_recursiveChildOffset")
    private func propertyOffset(_: Any.Type, index: Int) -> Int
#endif
