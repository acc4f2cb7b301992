/// The numbers of the objects, classes and C strings that an archive holds already.
///
/// Objects have a table of their own: a dictionary would hash each address with SipHash.
struct WrittenGraph {
    /// Keeps each object alive, so that its address stands for it alone.
    private var objects: [AnyObject] = []
    private var numbers: [Int] = []
    /// Indices into `objects` + 1 by address, 0 for empty; a power of two of them, at least twice as many as objects.
    private var buckets = [UInt32](repeating: 0, count: 32)
    private var classes: [ObjectIdentifier: Int] = [:]
    /// The class that was asked for last: mostly that of a string.
    private var lastClass: ObjectIdentifier?
    private var lastNumber = 0
    private var cStrings: [[UInt8]: Int] = [:]

    func number(of object: AnyObject) -> Int? {
        var at = slot(of: object)
        while buckets[at] != 0 {
            let index = Int(buckets[at]) - 1
            if objects[index] === object { return numbers[index] }
            at = (at + 1) & (buckets.count - 1)
        }
        return nil
    }

    /// Adds an object that is not there yet.
    mutating func add(_ object: AnyObject, number: Int) {
        objects.append(object)
        numbers.append(number)
        if objects.count * 2 > buckets.count {
            buckets = [UInt32](repeating: 0, count: buckets.count * 2)
            for index in objects.indices { insert(index) }
        } else {
            insert(objects.count - 1)
        }
    }

    private mutating func insert(_ index: Int) {
        var at = slot(of: objects[index])
        while buckets[at] != 0 { at = (at + 1) & (buckets.count - 1) }
        buckets[at] = UInt32(index + 1)
    }

    /// Input cannot choose addresses, so the hash needs no seed. The low bits of addresses are all alike.
    private func slot(of object: AnyObject) -> Int {
        let address = UInt64(UInt(bitPattern: ObjectIdentifier(object)))
        return Int(truncatingIfNeeded: (address &* 0x9E37_79B9_7F4A_7C15) >> 32) & (buckets.count - 1)
    }

    /// The objects that were written; their addresses are theirs as long as this graph lives.
    var identities: Set<ObjectIdentifier> { Set(objects.map { ObjectIdentifier($0) }) }

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
