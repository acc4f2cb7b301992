import Foundation

/// Any archive of `NSArchiver`, opened without its classes: to look at it, to change it, and to write it again.
///
/// ```swift
/// let stream = try TypedStream(data)
/// print(stream)
/// ```
///
/// Objects refer to each other by their places, so graphs that share objects or run in circles are nothing special.
/// Everything that an archive says is kept, and an archive by Apple's `NSArchiver` is written back byte for byte. Only
/// details without a meaning are not kept: integers that are stored wider than they need to be, and strings that are
/// stored again where a reference would do.
///
/// No class is looked up and none is instantiated, for any archive.
public struct TypedStream: Sendable, Hashable {
    /// The order of the bytes of numbers.
    public enum ByteOrder: Sendable, Hashable {
        /// As all of Apple's processors have written since 2006.
        case little
        /// As PowerPC wrote.
        case big
    }

    /// Values that were encoded by one call, with their types.
    public struct Group: Sendable, Hashable {
        /// The types of the values as Objective-C's `@encode` writes them, one after the other: `@`, `i`, `iI`,
        /// `{_NSPoint=ff}`, `[12c]`. A `+` stands for bytes after their length, `%` for an atom.
        public var types: String
        /// The values, one for each type.
        public var values: [Value]

        /// Makes a group by hand: one value for each type.
        public init(types: String, values: [Value]) {
            self.types = types
            self.values = values
        }
    }

    /// One value.
    public enum Value: Sendable, Hashable {
        /// An integer, or a Boolean as 0 or 1; a float or double that is stored as an integer, as those without a
        /// fraction are.
        case integer(Int64)
        /// An integer beyond those of ``integer(_:)``.
        case unsigned(UInt64)
        /// A `float` with a fraction.
        case float(Float)
        /// A `double` with a fraction.
        case double(Double)
        /// An object, a class or a C string: its place in ``TypedStream/objects``; `nil` for nil.
        case reference(Int?)
        /// A selector or an atom, as the bytes of its name; `nil` for nil.
        case name(Data?)
        /// Bytes, also those of an array of `c` or `C`; `nil` for nil.
        case bytes(Data?)
        /// The elements of a C array in their order.
        case array([Value])
        /// A structure's fields in their order.
        case structure([Value])
        /// A value that the archive leaves out.
        case omitted
    }

    /// A class as the archive describes it.
    public struct ClassDescription: Sendable, Hashable {
        /// The name of the class.
        public var name: String
        /// The version of the class's way to encode itself.
        public var version: Int
        /// The place of the class above it; `nil` for a root class.
        public var superclass: Int?

        /// Makes a description by hand; of a root class, unless a superclass is given.
        public init(name: String, version: Int = 0, superclass: Int? = nil) {
            self.name = name
            self.version = version
            self.superclass = superclass
        }
    }

    /// An object of a class.
    public struct Instance: Sendable, Hashable {
        /// The place of its class.
        public var classPlace: Int
        /// The groups of values that it encoded, in their order; those of a superclass come first.
        public var groups: [Group]

        /// Makes an object by hand: the place of its class, and its groups.
        public init(classPlace: Int, groups: [Group]) {
            self.classPlace = classPlace
            self.groups = groups
        }
    }

    /// The object in one place.
    public enum Object: Sendable, Hashable {
        /// An object of a class, with its values.
        case instance(Instance)
        /// A class, to which its instances refer.
        case classDescription(ClassDescription)
        /// The bytes of a C string, without the zero at its end. Most are ASCII; no archive names an encoding.
        case cString(Data)
    }

    /// The groups of the outermost level: one of one object, if a root object was archived.
    public var groups: [Group]
    /// The objects by their places. Archives number them in the order in which they are met.
    public var objects: [Object]
    /// The version of the system that wrote the archive: 1,000 for every Mac.
    public var systemVersion: Int
    /// The order of the bytes of numbers, which is kept when the stream is written.
    public var byteOrder: ByteOrder

    /// Makes a stream by hand.
    public init(groups: [Group], objects: [Object], systemVersion: Int = 1_000, byteOrder: ByteOrder = .little) {
        self.groups = groups
        self.objects = objects
        self.systemVersion = systemVersion
        self.byteOrder = byteOrder
    }
}

// MARK: Walking

extension TypedStream {
    /// The first object of the outermost level as a reference; `nil` if there is none.
    public var root: Value? {
        for group in groups where group.types.hasPrefix("@") { return group.values.first }
        return nil
    }

    /// The object in a place; `nil` if there is no such place.
    public func object(_ place: Int) -> Object? { objects.indices.contains(place) ? objects[place] : nil }

    /// The instance that a value refers to; `nil` if it refers to none.
    public func instance(_ value: Value) -> Instance? {
        guard case .reference(let place?) = value, case .instance(let instance)? = object(place) else { return nil }
        return instance
    }

    /// The class of the instance that a value refers to; `nil` if it refers to none.
    public func classDescription(of value: Value) -> ClassDescription? {
        guard let instance = instance(value),
            case .classDescription(let description)? = object(instance.classPlace)
        else { return nil }
        return description
    }

    /// The names of the classes of the instance that a value refers to, from its own up to the root class; empty if
    /// it refers to none.
    public func classNames(of value: Value) -> [String] {
        var names: [String] = []
        var next = classDescription(of: value)
        // A stream that was made by hand could hold a class above itself.
        while let description = next, names.count < objects.count {
            names.append(description.name)
            guard let place = description.superclass, case .classDescription(let above)? = object(place) else {
                break
            }
            next = above
        }
        return names
    }

    /// The text of a string object, of a C string or of bytes in UTF-8; `nil` for all else.
    public func text(_ value: Value) -> String? {
        switch value {
        case .bytes(let data?), .name(let data?): return String(validating: data, as: UTF8.self)
        case .reference(let place?):
            if case .cString(let data)? = object(place) { return String(validating: data, as: UTF8.self) }
            guard classNames(of: value).contains("NSString"), let group = instance(value)?.groups.first,
                group.types == "+", case .bytes(let data?)? = group.values.first
            else { return nil }
            return String(validating: data, as: UTF8.self)
        default: return nil
        }
    }
}
