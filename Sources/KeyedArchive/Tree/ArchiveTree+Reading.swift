import Foundation

extension ArchiveTree {
    /// Opens an archive in the binary or the XML form of property lists.
    ///
    /// - Parameter archive: the archive's bytes.
    /// - Throws: ``ArchiveError`` with code `.unknownFormat` if the bytes are not a property list, or no keyed
    ///   archive; `.unsupportedFormat` for versions that are not known; `.corrupted` if the archive
    ///   is damaged anywhere; `.outOfRange` for integers beyond 64 bits; `.limitExceeded` if lists nest more than
    ///   200 deep, or if it holds far more than its size can justify.
    /// - Complexity: O(*n*) in the archive's bytes.
    public init(_ archive: Data) throws(ArchiveError) {
        try self.init(archive.withUnsafeBytes { Array($0) })
    }

    package init(_ bytes: [UInt8]) throws(ArchiveError) {
        self = try ArchiveTreeReader.reading(bytes) { reader throws(ArchiveError) in try reader.read() }
    }

    /// As ``init(_:)``, but data in the tree shares the archive's memory, and keeps all of it alive: for a tree that is
    /// looked at and let go.
    package init(sharing archive: Data) throws(ArchiveError) {
        let tree = archive.withUnsafeBytes { buffer in
            Result { () throws(ArchiveError) in
                try ArchiveTreeReader.reading(buffer.bindMemory(to: UInt8.self), shared: archive) {
                    reader throws(ArchiveError) in try reader.read()
                }
            }
        }
        self = try tree.get()
    }
}

private struct ArchiveTreeReader: PropertyListValueReader {
    static let depthLimit = ArchiveTree.listDepthLimit
    static let locatesErrors = false

    let source: ArchiveSource
    let budget = DecodingBudget()
    /// The archive that data values are slices of; `nil` if they are copied.
    private let shared: Data?

    private init(_ source: ArchiveSource, shared: Data?) {
        self.source = source
        budget.grant(ArchiveLimits(), byteCount: source.list.bytes.count)
        self.shared = shared
    }

    /// Has `body` read bytes where they are.
    static func reading<Result>(
        _ bytes: [UInt8],
        _ body: (ArchiveTreeReader) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        try bytes.withUnsafeBufferPointer { buffer throws(ArchiveError) in
            try reading(buffer, body)
        }
    }

    /// - Parameter bytes: all that is read is copied from them, so that nothing refers to them afterwards.
    static func reading<Result>(
        _ bytes: UnsafeBufferPointer<UInt8>,
        shared: Data? = nil,
        _ body: (ArchiveTreeReader) throws(ArchiveError) -> Result
    ) throws(ArchiveError) -> Result {
        try ArchiveSource.reading(bytes) { archive throws(ArchiveError) in
            // The bytes of a list that was XML are not the archive's own.
            try body(ArchiveTreeReader(archive.source, shared: archive.origin == nil ? shared : nil))
        }
    }

    func read() throws(ArchiveError) -> ArchiveTree {
        var tree = ArchiveTree(roots: try fields(source.top), objects: [])
        tree.objects.reserveCapacity(source.objects.count)
        for index in 0..<source.objects.count {
            tree.objects.append(try object(source.list.element(source.objects, index)))
        }
        for (place, object) in tree.objects.enumerated() {
            guard case .instance(let instance) = object else { continue }
            guard case .classDescription = tree.objects[instance.classPlace] else { throw source.classless(place) }
        }
        return tree
    }

    // MARK: Objects

    private func object(
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ArchiveTree.Object {
        guard case .dictionary(let found) = try source.list.object(reference) else {
            if try source.list.isString(reference, "$null") { return .empty }
            return .value(try value(reference))
        }
        try budget.spend(2 * found.count + 1)
        if let value = try source.list.value(of: "$class", in: found) {
            let classPlace = Int(try source.classPlace(at: value))
            let fields = try fields(found, without: "$class")
            return .instance(ArchiveTree.Instance(classPlace: classPlace, fields: fields))
        }
        return .classDescription(try source.classDescription(found, at: reference, budget))
    }

    // MARK: Values

    func reference(to uid: UInt32, at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Int {
        _ = try source.reference(ofObject: uid)
        return Int(uid)
    }

    func data(in range: Range<Int>) -> Data {
        if let shared { return shared[(shared.startIndex + range.lowerBound)...].prefix(range.count) }
        return source.list.bytes.data(in: range)
    }
}
