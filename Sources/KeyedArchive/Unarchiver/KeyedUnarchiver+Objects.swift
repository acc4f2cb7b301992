import Foundation

#if canImport(Darwin)
    import CCoding
#endif

extension KeyedUnarchiver {
    /// The object that a value refers to, `nil` if it refers to nothing.
    func resolve(
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        guard let uid = try source.list.uid(reference) else { return reference }
        let target = try source.reference(ofObject: uid)
        return try source.isNull(target) ? nil : target
    }

    /// The value at a place in a scope: an object by reference, or a scalar inline, which is boxed.
    func object(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        if let uid = try source.list.uid(reference) { return try object(uid) }
        return try scalar(at: reference)
    }

    /// The object in a place of `$objects`; one place is one object, however often it is referred to.
    func object(_ uid: UInt32) throws(ArchiveError) -> Any? {
        let reference = try source.reference(ofObject: uid)
        guard let fields = try source.list.fields(reference) else { return try leaf(uid, reference) }
        if let known = try known(uid, reference) { return known }
        try spend(16)
        try checkNesting()
        depth += 1
        defer { depth -= 1 }
        objects.begin(uid, of: source.objects.count)
        let outerSize = heldSize
        heldSize = 0
        do throws(ArchiveError) {
            guard let value = try decode(fields, uid, at: reference) else {
                objects.end(uid, .decodedNil)
                heldSize = outerSize
                return nil
            }
            objects.end(uid, .decoded(value, size: heldSize + 1))
            heldSize += outerSize + 1
            return value
        } catch {
            // A caller that catches this error may ask again, and must get the same error.
            objects.forget(uid)
            heldSize = outerSize
            cycles.drop(uid)
            // Other objects may hold its early instance, which stays empty: nothing of this graph may be used.
            if cycles.isHandedOut(uid) { record(error) }
            throw error
        }
    }

    @inline(__always)
    private func decode(
        _ fields: BinaryPropertyList.Fields,
        _ uid: UInt32,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> Any? {
        var value: Any?
        switch try resolvedClass(of: fields, at: reference) {
        case .intrinsic(let intrinsic): value = try decode(intrinsic, fields, uid)
        case .coding(let type):
            let outer = cycles.owner
            cycles.owner = uid
            value = instance(of: type, fields, uid)
            cycles.owner = outer
            if value == nil { cycles.drop(uid) }
            // One object, however often it is referred to, is never taken for several.
            heldSize = 0
        case .unknown:
            do throws(ArchiveError) {
                value = try archivedObject(uid, fields, at: reference)
            } catch {
                // Other objects may refer to it already, without all its fields.
                record(error)
                throw error
            }
            heldSize = 0
        }
        if asksDelegate { value = try askDelegate(about: value, uid) }
        if !cycles.isEmpty { try complete(uid, &value) }
        return value
    }

    /// The object in a place of `$objects` that has no parts of its own.
    // Apart, so that its stack is not taken at each level of a graph.
    @inline(never)
    private func leaf(_ uid: UInt32, _ reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        switch try source.list.object(reference) {
        case .ascii(let range) where range.count > Self.sharedLength,
            .utf16(let range) where range.count > Self.sharedLength,
            .data(let range) where range.count > Self.sharedLength:
            // Decoded once, so that references to one long text cost no memory each.
            if let known = try known(uid, reference) { return known }
            guard var value = try scalar(at: reference) else { return nil }
            if asksDelegate { value = try askDelegate(about: value, uid) ?? value }
            objects.begin(uid, of: source.objects.count)
            objects.end(uid, .decoded(value, size: 1))
            return value
        case .ascii, .utf16:
            if try source.isNull(reference) { return nil }
            let value = try scalar(at: reference)
            return asksDelegate ? try askDelegate(about: value, uid) : value
        default:
            let value = try scalar(at: reference)
            return asksDelegate ? try askDelegate(about: value, uid) : value
        }
    }

    /// Longer texts and data are decoded once.
    static let sharedLength = 64

    /// The object that was decoded already.
    private func known(
        _ uid: UInt32,
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> Any?? {
        switch objects.state(of: uid) {
        case .unknown: return nil
        case .decodedNil: return .some(nil)
        case .decoded(let value, let size):
            // Capped, so that it does not grow without end outside collections, where it is not checked.
            heldSize = min(heldSize + size, 2 * sizeLimit)
            return .some(value)
        case .inProgress: return .some(try early(uid, reference))
        }
    }

    func instance(of type: any NSCoding.Type, _ fields: BinaryPropertyList.Fields, _ uid: UInt32) -> Any? {
        let outer = (scope, thrown, expected.intrinsicsToo, cycles.objectDepth)
        scope = ArchiveScope(fields)
        cycles.objectDepth = depth
        thrown = nil
        // A value that the object asks for without naming a class may be of any kind.
        expected.intrinsicsToo = true
        defer { (scope, thrown, expected.intrinsicsToo, cycles.objectDepth) = outer }
        #if canImport(Darwin)
            let made = guarded(type, uid)
        #else
            let made = type.init(coder: self)
        #endif
        guard let made else {
            // It refused, most likely because of the error that an accessor threw.
            if let thrown { record(thrown) }
            return nil
        }
        return made
    }

    #if canImport(Darwin)
        /// Has an object of a class decode itself; an exception that it raises is recorded.
        private func guarded(_ type: any NSCoding.Type, _ uid: UInt32) -> Any? {
            guard let cls = anyClass(type) else { return nil }
            var raised: NSException?
            let outer = (depth, cycles.allocatedCount)
            let made = coding_decode(cls, self, { cycles.allocate($0, uid) }, &raised)
            cycles.release(downTo: outer.1)
            guard let raised else { return made }
            // The exception left the calls inside before they could count `depth` down.
            depth = outer.0
            let name = ClassNames.name(of: cls)
            record(ArchiveError(.decodingFailed, "the init(coder:) of \(name) raised \(raised.name.rawValue)"))
            return nil
        }
    #endif

    private func askDelegate(about value: Any?, _ uid: UInt32) throws(ArchiveError) -> Any? {
        guard let value, !hasFailed, let delegate,
            let chosen = delegate.unarchiver(self, didDecode: value)
        else { return value }
        // Values have no identity: only an object can be told from another.
        guard type(of: value) is AnyClass else { return chosen }
        if type(of: chosen) is AnyClass, (chosen as AnyObject) === (value as AnyObject) { return value }
        if cycles.isHandedOut(uid) {
            throw ArchiveError(
                .cyclicReference,
                "an object that its own parts refer to was replaced by the delegate"
            )
        }
        cycles.drop(uid)
        delegate.unarchiver(self, willReplace: value, with: chosen)
        return chosen
    }

    /// A scalar as an object.
    private func scalar(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        try spend(1)
        switch try source.list.object(reference) {
        case .double(let value):
            // `as? Double` is five times faster on a Double. But one that an integer or a Float could hold may
            // be asked for as such, which only NSNumber answers.
            return Double(Float(value)) == value || value.rounded() == value ? NSNumber(value: value) : value
        case .bool(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .unsigned(let value): return NSNumber(value: value)
        case .float(let value): return NSNumber(value: value)
        case .ascii(let range):
            try spend(bytes: range.count)
            return try source.list.string(ascii: range)
        case .utf16(let range):
            try spend(bytes: range.count)
            return try source.list.string(utf16: range)
        case .data(let range):
            try spend(bytes: range.count)
            return source.list.bytes.data(in: range)
        case .date(let seconds):
            // GNUstep stores dates in this form.
            return Date(timeIntervalSinceReferenceDate: seconds)
        case .null: return nil
        case .uid, .array, .set, .dictionary:
            throw ArchiveError(
                .corrupted,
                "no object where one is referred to",
                offset: try source.list.offset(of: reference)
            )
        }
    }
}
