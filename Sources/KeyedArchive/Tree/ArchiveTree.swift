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
    /// The value of a field. A reference is the place of an object; 0 is nil.
    public typealias Value = PropertyListValue<Int>

    /// A named value of an object, of the outermost scope, or of a dictionary of the property list.
    public typealias Field = Value.Field

    /// An object with fields of its own.
    public struct Instance: Sendable {
        /// The place of its class.
        public var classPlace: Int
        /// Its fields but the class, in their order.
        public var fields: [Field]

        /// Makes an object by hand: the place of its class, and its fields.
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

        /// Makes a description by hand. Without a chain, readers know the class by its name alone.
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
        /// An object of a class, with its fields.
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

extension ArchiveTree: CustomStringConvertible {
    /// The tree as an outline: see ``ArchiveOutline``.
    public var description: String { ArchiveOutline(self).description }
}
