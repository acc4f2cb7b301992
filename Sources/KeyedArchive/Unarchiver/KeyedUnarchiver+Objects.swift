import Foundation

#if canImport(Darwin)
    import CCoding
#endif

extension KeyedUnarchiver {
    /// Runs `body` while other classes are expected.
    ///
    /// - Parameter allowsFoundationValues: whether strings, numbers, dates, collections, … are allowed without being
    ///   named.
    @inline(__always)
    func expecting<Result>(
        _ expected: ExpectedClasses,
        allowsFoundationValues: Bool,
        _ body: () -> Result
    ) -> Result {
        let outer = (classes.expected, frame.allowsFoundationValues)
        (classes.expected, frame.allowsFoundationValues) = (expected, allowsFoundationValues)
        defer { (classes.expected, frame.allowsFoundationValues) = outer }
        return body()
    }

    /// The object that a value is or refers to, if it is of one of the classes that are expected.
    ///
    /// - Parameter isMember: whether it is a member of a collection: the classes of property lists need no name there.
    func expectedObject(
        at reference: BinaryPropertyList.Reference,
        isMember: Bool = false
    ) throws(ArchiveError) -> Any? {
        guard let object = try object(at: reference) else { return nil }
        // If unknown classes are kept, their objects may be members of the object that was asked for.
        guard
            classes.expected.allows(object) || isMember && ExpectedClasses.ofPropertyLists.allows(object)
                || object is ArchivedObject && nesting.depth > frame.depth
        else {
            throw ArchiveError(
                .typeMismatch,
                "\(ClassNames.name(of: type(of: object))), where \(classes.expected.names) is expected",
                offset: try source.list.offset(of: source.resolve(reference) ?? reference)
            )
        }
        return object
    }

    /// The way in which an object is decoded here, by its class.
    func resolvedClass(
        of fields: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ResolvedClass {
        let uid = try classUID(of: fields, at: reference)
        if let known = classes.known(uid) { return known }
        return try newClass(uid, of: reference)
    }

    // Apart, so that its stack is not taken at each level of a graph.
    @inline(never)
    private func newClass(
        _ uid: UInt32,
        of reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> ResolvedClass {
        try classes.resolve(uid, of: reference, in: source) { name, chain in
            delegate?.unarchiver(self, cannotDecodeObjectOfClassName: name, originalClasses: chain)
        }
    }

    /// The UID of an object's class.
    func classUID(
        of fields: BinaryPropertyList.Fields,
        at reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> UInt32 {
        try source.classUID(of: fields, at: reference, under: &classes.classKey, budget)
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
        if objects.isKnown(uid) { return try known(uid, reference) }
        try budget.spend(16)
        try nesting.enter()
        defer { nesting.leave() }
        let outer = objects.begin(uid)
        do throws(ArchiveError) {
            guard let value = try decode(fields, uid, at: reference) else {
                objects.end(nil: uid, around: outer)
                return nil
            }
            objects.end(uid, value, around: outer)
            return value
        } catch {
            // A caller that catches this error may ask again, and must get the same error.
            objects.fail(uid, around: outer)
            cycles.drop(uid)
            // Other objects may hold its placeholder, which stays empty: nothing of this graph may be used.
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
        case .intrinsic(let intrinsic):
            var fields = FormFields(fields, of: intrinsic.className, in: uid, self)
            value = try intrinsic.read(&fields)
        case .coding(let coding):
            value = instance(of: coding, fields, uid)
            if value == nil { cycles.drop(uid) }
            objects.forgetMembers()
        case .unknown:
            do throws(ArchiveError) {
                value = try UnknownObjectReader(self).object(in: uid, fields, at: reference)
            } catch {
                // Other objects may refer to it already, without all its fields.
                record(error)
                throw error
            }
            objects.forgetMembers()
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
            if objects.isKnown(uid) { return try known(uid, reference) }
            guard var value = try scalar(at: reference) else { return nil }
            if asksDelegate { value = try askDelegate(about: value, uid) ?? value }
            objects.note(leaf: value, in: uid)
            return value
        case .ascii, .utf16:
            if try source.isNull(reference) { return nil }
            let value = try scalar(at: reference)
            return asksDelegate ? try askDelegate(about: value, uid) : value
        case .double(let value) where !asksDelegate:
            try budget.spend(1)
            return boxed(value)
        default:
            let value = try scalar(at: reference)
            return asksDelegate ? try askDelegate(about: value, uid) : value
        }
    }

    /// Longer texts and data are decoded once.
    static let sharedLength = 64

    /// The object that was decoded already, or is being decoded.
    private func known(
        _ uid: UInt32,
        _ reference: BinaryPropertyList.Reference
    ) throws(ArchiveError) -> Any? {
        switch objects.state(of: uid) {
        case .unknown, .decodedNil: return nil
        case .decoded(let value, let size):
            objects.countKnown(size)
            return value
        case .inProgress: return try placeholder(uid, reference)
        }
    }

    /// Has a class decode an object of its own; `nil` if its `init(coder:)` returned that.
    func instance(of coding: CodingClass, _ fields: BinaryPropertyList.Fields, _ uid: UInt32) -> Any? {
        var other = DecodingFrame(fields, place: uid, depth: nesting.depth)
        swap(&frame, &other)
        defer { swap(&frame, &other) }
        #if canImport(Darwin)
            if let made = guarded(coding, uid) { return made }
        #else
            if let object = coding.object {
                if let made = object.init(coder: self) { return made }
            } else if let made = coding.type.init(coder: self) {
                return made
            }
        #endif
        // It refused, most likely because of the error that an accessor threw.
        if let thrown = frame.thrown { record(thrown) }
        return nil
    }

    #if canImport(Darwin)
        /// Has an object of a class decode itself; an exception that it raises is recorded.
        private func guarded(_ coding: CodingClass, _ uid: UInt32) -> Any? {
            guard let cls = coding.cls else { return nil }
            var raised: NSException?
            let outer = (depth: nesting.depth, allocatedCount: cycles.allocatedCount)
            let made = coding_decode(cls, self, { cycles.allocate($0, uid) }, &raised)
            cycles.release(downTo: outer.allocatedCount)
            guard let raised else { return made }
            // The exception left the calls inside before they could leave their levels.
            nesting.leave(downTo: outer.depth)
            record(ArchiveError(.decodingFailed, raised, in: "init(coder:)", of: cls))
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

    @inline(__always)
    private func boxed(_ value: Double) -> Any {
        // `as? Double` is five times faster on a Double. But one that an integer or a Float could hold may
        // be asked for as such, which only NSNumber answers.
        Double(Float(value)) == value || value.rounded() == value ? NSNumber(value: value) : value
    }

    /// A scalar as an object.
    private func scalar(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Any? {
        try budget.spend(1)
        switch try source.list.object(reference) {
        case .double(let value): return boxed(value)
        case .bool(let value): return NSNumber(value: value)
        case .integer(let value): return NSNumber(value: value)
        case .unsigned(let value): return NSNumber(value: value)
        case .float(let value): return NSNumber(value: value)
        case .ascii(let range):
            try budget.spend(bytes: range.count)
            return try source.list.string(ascii: range)
        case .utf16(let range):
            try budget.spend(bytes: range.count)
            return try source.list.string(utf16: range)
        case .data(let range):
            try budget.spend(bytes: range.count)
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
