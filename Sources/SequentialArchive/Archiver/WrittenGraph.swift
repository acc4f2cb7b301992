/// The numbers of the objects, classes and C strings that an archive holds already.
struct WrittenGraph {
    private var objects: [ObjectIdentifier: Int] = [:]
    /// Keeps each object alive, so that its address stands for it alone.
    private var kept: [AnyObject] = []
    private var classes: [ObjectIdentifier: Int] = [:]
    /// The class that was asked for last: mostly that of a string.
    private var lastClass: ObjectIdentifier?
    private var lastNumber = 0
    private var cStrings: [[UInt8]: Int] = [:]

    func number(of object: AnyObject) -> Int? { objects[ObjectIdentifier(object)] }

    mutating func add(_ object: AnyObject, number: Int) {
        kept.append(object)
        objects[ObjectIdentifier(object)] = number
    }

    /// The objects that were written; their addresses are theirs as long as this graph lives.
    var identities: Set<ObjectIdentifier> { Set(objects.keys) }

    subscript(cls: AnyClass) -> Int? {
        mutating get {
            if lastClass == ObjectIdentifier(cls) { return lastNumber }
            guard let found = classes[ObjectIdentifier(cls)] else { return nil }
            (lastClass, lastNumber) = (ObjectIdentifier(cls), found)
            return found
        }
        set { classes[ObjectIdentifier(cls)] = newValue }
    }

    subscript(cString bytes: [UInt8]) -> Int? {
        get { cStrings[bytes] }
        set { cStrings[bytes] = newValue }
    }
}
