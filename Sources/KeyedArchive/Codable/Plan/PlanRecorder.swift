/// Notes the requests of a type's `init(from:)`, for a plan of archives of the same shape.
final class PlanRecorder {
    private struct Request {
        let key: String
        let value: BinaryPropertyList.Reference?
        var type: Any.Type?
    }

    private struct Container {
        let reference: BinaryPropertyList.Reference
        let rootType: Any.Type?
        let fields: BinaryPropertyList.Fields
        var requests: [Request] = []
    }

    private var containers: [Container] = []
    private var requestCount = 0
    private static let mostContainers = 32
    private static let mostRequests = 512
    /// The most objects of an archive that is noted.
    static let mostObjects = 512
    private static let mostShapeBytes = 4_096

    private var isFull: Bool { containers.count > Self.mostContainers || requestCount > Self.mostRequests }

    /// A container with keys.
    ///
    /// - Returns: its number.
    func add(
        _ reference: BinaryPropertyList.Reference,
        _ fields: BinaryPropertyList.Fields,
        rootType: Any.Type?
    ) -> Int {
        // One object may be decoded any number of times. Without this there are too many for a plan, too.
        if isFull { return containers.count - 1 }
        containers.append(Container(reference: reference, rootType: rootType, fields: fields))
        return containers.count - 1
    }

    /// A request for a key, with the value that it has.
    func add(_ key: String, _ value: BinaryPropertyList.Reference?, in container: Int) {
        if isFull { return }
        containers[container].requests.append(Request(key: key, value: value))
        requestCount += 1
    }

    /// The type that the last request of a container was for.
    func note(_ type: Any.Type, in container: Int) {
        guard let last = containers[container].requests.indices.last else { return }
        containers[container].requests[last].type = type
    }

    /// The plan; `nil` if the archive's objects do not stand as this package's archiver writes them, or there are many.
    ///
    /// - Parameter rootType: the type that was decoded.
    func plan(
        of unarchiver: KeyedUnarchiver,
        root: BinaryPropertyList.Reference
    ) -> ArchivePlan? {
        let source = unarchiver.source
        guard !containers.isEmpty, containers.count <= Self.mostContainers, requestCount <= Self.mostRequests,
            let shape = ArchiveShape(source),
            shape.end <= Self.mostShapeBytes, shape.holds(root)
        else { return nil }
        var planned: [ArchivePlan.Container] = []
        var fields = PlannedFields()
        for container in containers {
            guard let target = shape.object(container.reference), let own = shape.fields(target),
                own.start == container.fields.start, let name = shape.className(of: own)
            else { return nil }
            if let type = container.rootType, !source.list.hold(unarchiver.classes.archivedName(of: type), in: name)
            {
                return nil
            }
            let isBuiltIn = source.list.bytes.withBytes(in: name) { name in
                UnarchivedIntrinsic.named(String(decoding: name, as: UTF8.self)) != nil
            }
            if isBuiltIn { return nil }
            let start = fields.count
            for request in container.requests {
                let field = shape.field(request.key, request.value, type: request.type, membersTo: &fields)
                fields.append(field, key: request.key)
            }
            planned.append(
                ArchivePlan.Container(
                    reference: container.reference,
                    rootType: container.rootType,
                    fields: own,
                    requests: start..<fields.count
                )
            )
        }
        return ArchivePlan(
            source.list,
            source: PlannedSource(source),
            shapeEnd: shape.end,
            root: root,
            containers: planned,
            fields: fields
        )
    }
}
