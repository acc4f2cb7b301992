import Foundation

// Values of Foundation's as archivers write them, read from the bytes: without an object, a look-up of its class, a box
// or a cast. Nothing is remembered of them, so long texts and data take the longer way, on which they are decoded once.
//
// Each `nil` leaves the question open: a value in another form, nil, or a damaged one. `object(at:)` decides then, and
// throws the errors.

extension KeyedUnarchiver {
    func date(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Date? {
        guard let fields = try usualFields(at: reference, count: 2, { if case .date = $0 { true } else { false } }),
            source.list.isKey("NS.time", at: 0, of: fields),
            let seconds = try source.number(at: source.list.value(fields, 0))?.double
        else { return nil }
        return Date(timeIntervalSinceReferenceDate: seconds)
    }

    func uuid(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> UUID? {
        guard let fields = try usualFields(at: reference, count: 2, { if case .uuid = $0 { true } else { false } }),
            source.list.isKey("NS.uuidbytes", at: 0, of: fields),
            case .data(let range) = try source.list.object(source.list.value(fields, 0)), range.count == 16
        else { return nil }
        try budget.spend(bytes: 16)
        return source.list.bytes.withBytes(in: range) {
            UUID(uuid: UnsafeRawBufferPointer($0).loadUnaligned(as: uuid_t.self))
        }
    }

    /// An absolute URL of usual length.
    func url(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> URL? {
        guard let fields = try usualFields(at: reference, count: 3, { if case .url = $0 { true } else { false } }),
            source.list.isKey("NS.base", at: 0, of: fields),
            source.list.isKey("NS.relative", at: 1, of: fields),
            let uid = try source.list.uid(source.list.value(fields, 1)),
            case .ascii(let range) = try source.list.object(source.reference(ofObject: uid)),
            range.count < Self.usualURLLength, try !source.isNull(source.reference(ofObject: uid))
        else { return nil }
        // As for a text and for the copy that the URL makes of it.
        try budget.spend(bytes: 2 * range.count)
        let text = try source.list.string(ascii: range)
        // Last, as the longer way does: the first fault is the one that is thrown.
        guard try source.isReferenceToNil(source.list.value(fields, 0)) else { return nil }
        return URL(string: text, relativeTo: nil)
    }

    private static let usualURLLength = 256

    /// Data that is decoded for each reference to it.
    func data(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Data? {
        guard !asksDelegate, let uid = try source.list.uid(reference),
            case .data(let range) = try source.list.object(source.reference(ofObject: uid)),
            range.count <= Self.sharedLength
        else { return nil }
        try budget.spend(1)
        try budget.spend(bytes: range.count)
        return source.list.bytes.data(in: range)
    }

    /// A number whose digits fit 64 bits and end in none that the exponent could hold.
    func plainDecimal(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> Decimal? {
        let list = source.list
        guard
            let fields = try usualFields(
                at: reference,
                count: 7,
                { if case .form(let form) = $0 { form.isDecimal } else { false } }
            ),
            list.isKey("NS.length", at: 0, of: fields), list.isKey("NS.exponent", at: 1, of: fields),
            list.isKey("NS.negative", at: 2, of: fields), list.isKey("NS.compact", at: 3, of: fields),
            list.isKey("NS.mantissa.bo", at: 4, of: fields), list.isKey("NS.mantissa", at: 5, of: fields),
            case .integer(let length) = try list.object(list.value(fields, 0)), (1...4).contains(length),
            case .integer(let exponent) = try list.object(list.value(fields, 1)), (-128...127).contains(exponent),
            case .bool(let isNegative) = try list.object(list.value(fields, 2)),
            case .integer(1) = try list.object(list.value(fields, 4)),
            case .data(let range) = try list.object(list.value(fields, 5)), range.count == 16
        else { return nil }
        try budget.spend(bytes: 16)
        let digits = list.bytes.withBytes(in: range) {
            UInt64(littleEndian: UnsafeRawBufferPointer($0).loadUnaligned(as: UInt64.self))
        }
        let mantissa = digits & (.max &>> UInt64(64 &- 16 &* length))
        guard mantissa % 10 != 0 else { return nil }
        return Decimal(sign: isNegative ? .minus : .plus, exponent: Int(exponent), significand: Decimal(mantissa))
    }

    /// An array of texts, all of which are ASCII.
    func texts(at reference: BinaryPropertyList.Reference) throws(ArchiveError) -> [String]? {
        guard
            let fields = try usualFields(
                at: reference,
                count: 2,
                { if case .array = $0 { true } else { false } }
            ),
            source.list.isKey("NS.objects", at: 0, of: fields),
            case .array(let run) = try source.list.object(source.list.value(fields, 0))
        else { return nil }
        try nesting.enter()
        defer { nesting.leave() }
        try budget.spend(5 &* run.count)
        var texts: [String] = []
        texts.reserveCapacity(run.count)
        for index in 0..<run.count {
            guard let text = try text(at: source.list.element(run, index)) else { return nil }
            texts.append(text)
        }
        return texts
    }

    /// The fields of an object of one of Foundation's classes that is sure to be decoded by its own form, and whose last
    /// field is its class, as archivers write it.
    ///
    /// - Parameter isUsual: whether the class is the one that is asked for.
    @inline(__always)
    private func usualFields(
        at reference: BinaryPropertyList.Reference,
        count: Int,
        _ isUsual: (UnarchivedIntrinsic) -> Bool
    ) throws(ArchiveError) -> BinaryPropertyList.Fields? {
        guard !asksDelegate, classes.decodesOwnForms, let uid = try source.list.uid(reference),
            let fields = try source.list.fields(source.reference(ofObject: uid)), fields.count == count
        else { return nil }
        let key = source.list.key(fields, count &- 1)
        if key != classes.classKey {
            guard try source.list.isString(key, "$class") else { return nil }
            classes.classKey = key
        }
        guard let classPlace = try source.list.uid(source.list.value(fields, count &- 1)),
            let intrinsic = try classes.intrinsic(classPlace, in: source), isUsual(intrinsic)
        else { return nil }
        // As much as the longer way would take, for many references may lead to one object.
        try budget.spend(16 &+ count)
        return fields
    }
}
