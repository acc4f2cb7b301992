import Foundation

/// Any keyed archive, opened without its classes: to look at it, to change it, and to write it again.
///
/// ```swift
/// let tree = try ArchiveTree(data)
/// print(tree)
/// if case .string(let title)? = tree.value(at: "root", "title") { … }
/// ```
///
/// Objects refer to each other by their places, as they do in the archive, so graphs that share objects or run in
/// circles are nothing special. Everything that an archive says is kept: a tree is written with the same places,
/// the same classes, and the same kinds of numbers. Only details without a meaning are not kept: the order of an
/// archive's four parts, where an object's class stands among its keys, how wide integers are stored, and which
/// equal values share their bytes.
///
/// No class is looked up and none is instantiated, for any archive.
public struct ArchiveTree: Sendable {
    /// A named value of an object, of the outermost scope, or of a dictionary of the property list.
    public struct Field: Sendable {
        /// The key as it stands in the archive.
        public var key: String
        public var value: Value

        /// - Parameters:
        ///   - key: the key as it stands in the archive, where a `$` that a class put in front of a key is doubled.
        ///   - value: the field's value.
        public init(key: String, value: Value) {
            self.key = key
            self.value = value
        }

        /// The key as the class gave it; `$0`, `$1`, … for values without a key.
        public var name: String { key.hasPrefix("$$") ? String(key.dropFirst()) : key }
    }

    /// The value of a field.
    public enum Value: Sendable {
        /// The property list's own null, which archives do not use: their nil is ``reference(_:)`` to an empty
        /// place.
        case null
        case bool(Bool)
        case integer(Int64)
        /// An integer above `Int64.max`.
        case unsigned(UInt64)
        /// A real number of 4 bytes.
        case float(Float)
        /// A real number of 8 bytes.
        case real(Double)
        case string(String)
        case data(Data)
        /// A date of the property list itself. Apple's archives have objects of class `NSDate` instead.
        case date(Date)
        case array([Value])
        /// A set of the property list itself, which archives hardly ever hold.
        case set([Value])
        /// A dictionary of the property list itself, which archives hardly ever hold.
        case dictionary([Field])
        /// The object in a place; 0 is nil.
        case reference(Int)
    }

    /// An object with fields of its own.
    public struct Instance: Sendable {
        /// The place of its class.
        public var classPlace: Int
        /// Its fields but the class, in their order.
        public var fields: [Field]

        public init(classPlace: Int, fields: [Field]) {
            self.classPlace = classPlace
            self.fields = fields
        }

        /// The value under a key as the class gave it, or `nil`. O(*n*) in the fields.
        public subscript(name: String) -> Value? { fields.first { $0.name == name }?.value }
    }

    /// An archive's description of a class.
    public struct ClassDescription: Sendable, Hashable {
        /// The name under which the class is to be looked up.
        public var name: String
        /// The class's real name and those of the classes above it. Empty if the archive does not say: archivers
        /// leave them out for classes that were given another name.
        public var chain: [String]
        /// Names of classes to take where there is no class of the first name.
        public var hints: [String]

        public init(name: String, chain: [String] = [], hints: [String] = []) {
            self.name = name
            self.chain = chain
            self.hints = hints
        }
    }

    /// The object in one place.
    public enum Object: Sendable {
        /// Nothing: nil, or a place that was kept free for an object that never came.
        case empty
        /// A string, number or data, which archives store as themselves.
        case value(Value)
        case instance(Instance)
        /// A class, to which its instances refer.
        case classDescription(ClassDescription)
    }

    /// The outermost scope: the roots under their keys.
    public var roots: [Field]
    /// The objects by their places. The first one is ``Object/empty``, which makes 0 the reference to nil.
    public var objects: [Object]

    /// Makes a tree by hand.
    public init(roots: [Field], objects: [Object]) {
        self.roots = roots
        self.objects = objects
    }
}
