/// How the archives of a Codable type are decoded that have the same shape: which fields its `init(from:)` asks for, in
/// their order, and where the values of these stand.
///
/// Archives of one type begin alike: names, references and containers first, then numbers and texts. All that decoding
/// finds out by this beginning alone is the same for two archives that have it in common: keys, classes, and the numbers
/// of the objects that values are.
///
/// The promise: a value decoded with a plan is the one that is decoded without. An archive follows the plan if it has the
/// same bytes up to ``shapeEnd``, and its table of offsets the same places for the objects there; every fact of the plan
/// was read from these alone. The values are read with every check. A request that the plan does not have next, and a
/// value in another form, take the general way.
///
/// Never changed once it is made, so containers that outlive their decoding may use it.
final class ArchivePlan {
    let source: PlannedSource
    /// The offset of the first byte that differs between archives.
    let shapeEnd: Int
    private let shape: [UInt8]
    /// The table of offsets by words, and which of its bits are those of objects in the shape.
    private let table: [(word: UInt64, mask: UInt64)]
    let root: BinaryPropertyList.Reference
    let containers: [Container]
    let fields: PlannedFields

    /// A container with keys that decoding asks for.
    struct Container {
        /// The value that is decoded from it.
        let reference: BinaryPropertyList.Reference
        /// The type whose name was compared with the class; `nil` for a container that is not the root's.
        let rootType: Any.Type?
        let fields: BinaryPropertyList.Fields
        /// Its requests among those of the plan.
        let requests: Range<Int>
    }

    init(
        _ list: BinaryPropertyList,
        source: PlannedSource,
        shapeEnd: Int,
        root: BinaryPropertyList.Reference,
        containers: [Container],
        fields: consuming PlannedFields
    ) {
        self.source = source
        self.shapeEnd = shapeEnd
        self.root = root
        self.containers = containers
        self.fields = fields
        shape = list.bytes.withBytes(in: 0..<shapeEnd) { Array($0) }
        table = list.tableWords(objectsBefore: shapeEnd)
    }

    /// Whether an archive follows the plan.
    func fits(_ list: BinaryPropertyList) -> Bool {
        guard list.objectCount == source.objectCount, list.top == source.top, list.hasWidths(of: source),
            shapeEnd <= list.table
        else { return false }
        guard shape.withUnsafeBufferPointer({ list.bytes.hold($0, at: 0) }) else { return false }
        return list.hasTable(table)
    }

    /// The container that decoding asks for, if the plan expects it next.
    func container(
        at reference: BinaryPropertyList.Reference,
        rootType: Any.Type?,
        for unarchiver: KeyedUnarchiver
    ) -> Container? {
        let next = unarchiver.nextContainer
        guard next < containers.count, containers[next].reference == reference,
            containers[next].rootType == rootType
        else { return nil }
        unarchiver.nextContainer = next + 1
        return containers[next]
    }

    /// The texts of an array; `nil` if one of them is in another form.
    func texts(_ members: Range<Int>, in list: BinaryPropertyList) throws(ArchiveError) -> [String]? {
        var texts: [String] = []
        texts.reserveCapacity(members.count)
        for index in members {
            guard let text = try list.usualString(fields.members[index]) else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// How much memory it takes, roughly, in bytes.
    var footprint: Int { shape.count + 16 * table.count + 64 * fields.count }
}

/// The parts of the archives that follow a plan.
struct PlannedSource: BitwiseCopyable {
    let objectCount: Int
    let top: BinaryPropertyList.Reference
    let offsetWidth: Int
    let referenceWidth: Int
    /// The objects, and the outermost scope.
    let objects: BinaryPropertyList.References
    let scope: BinaryPropertyList.Fields

    init(_ source: ArchiveSource) {
        objectCount = source.list.objectCount
        top = source.list.top
        offsetWidth = source.list.offsetWidth
        referenceWidth = source.list.referenceWidth
        objects = source.objects
        scope = source.top
    }
}
