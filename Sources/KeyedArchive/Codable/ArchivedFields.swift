/// The keyed values of an object, or of a dictionary with string keys.
final class ArchivedFields {
    let unarchiver: KeyedUnarchiver
    let path: CodingPath?
    // Unchecked: looking up a key calls no code that could look up another one.
    @exclusivity(unchecked) private var scope: ArchiveScope
    /// That of the unarchiver, which is as large as half a dozen numbers: passed on from here, it is not copied.
    private let list: BinaryPropertyList
    /// The values of a dictionary by their keys; `nil` for an object.
    private let dictionary: [String: BinaryPropertyList.Reference]?

    /// - Parameter root: the root's type if this is the root, which no dictionary can be.
    init(_ decoder: ArchiveDecoder, root: Any.Type?) throws {
        unarchiver = decoder.unarchiver
        path = decoder.path
        list = unarchiver.source.list
        if root != nil { unarchiver.codableRoot.isChecked = true }
        guard let target = try unarchiver.source.resolve(decoder.reference) else {
            throw DecodingError.valueNotFound(
                [String: Any].self,
                path.context("nil, where an object is asked for")
            )
        }
        guard case .dictionary(let fields) = try list.object(target) else {
            throw decoder.mismatch([String: Any].self, asked: "an object with keys")
        }
        scope = ArchiveScope(fields)
        let uid = try unarchiver.classUID(of: fields, at: target)
        if let root { try unarchiver.checkClass(uid, at: target, is: root) }
        switch try unarchiver.classes.intrinsic(uid, in: unarchiver.source) {
        case nil: dictionary = nil
        case .dictionary, .mutableDictionary:
            if let root {
                let text = "the root is a dictionary, not \(ArchivedClass.of(root).name)"
                throw DecodingError.typeMismatch(root, path.context(text))
            }
            dictionary = try Self.values(of: fields, at: target, decoder)
        default:
            // The keys of such an object belong to Foundation: a struct whose own keys may all be absent would be an empty one.
            throw decoder.mismatch([String: Any].self, asked: "an object with keys")
        }
    }

    private static func values(
        of fields: BinaryPropertyList.Fields,
        at target: BinaryPropertyList.Reference,
        _ decoder: ArchiveDecoder
    ) throws -> [String: BinaryPropertyList.Reference] {
        let unarchiver = decoder.unarchiver
        guard let (keys, references) = try unarchiver.dictionaryEntries(of: fields, at: target) else { return [:] }
        var values: [String: BinaryPropertyList.Reference] = [:]
        for (key, reference) in zip(keys, references) {
            switch try unarchiver.object(at: key) {
            case let name as String: values[name] = reference
            // As a coding key has it.
            case let number as Int: values[String(number)] = reference
            default:
                throw decoder.mismatch([String: Any].self, asked: "a dictionary with strings or integers for keys")
            }
        }
        return values
    }

    func names() throws -> [String] {
        try dictionary.map { Array($0.keys) } ?? unarchiver.names(in: scope.fields)
    }

    func find(_ key: String) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        if dictionary == nil, let next = scope.next(key, in: list) { return next }
        return try search(key)
    }

    // Apart: what it changes is counted as used.
    @inline(never)
    private func search(_ key: String) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        if let dictionary { return dictionary[key] }
        return try scope.value(of: key, in: list, &unarchiver.memory.keyOrder)
    }

    @inline(__always)
    func value(_ key: some CodingKey) throws -> BinaryPropertyList.Reference {
        if let reference = try find(key.stringValue) { return reference }
        throw DecodingError.keyNotFound(key, path.context("no value"))
    }

    // MARK: Decoding

    // Inlined, here and below: the optional of a type that is not known takes 50 ns to make.
    @inline(__always)
    func number<T>(_ key: some CodingKey, _ convert: (ArchivedNumber) -> T?) throws -> T {
        let reference = try value(key)
        if let number = try unarchiver.source.number(at: reference), let value = convert(number) { return value }
        return try decoder(key, at: reference).number(convert)
    }

    /// `nil` if there is no value, or it is nil.
    @inline(__always)
    func numberIfPresent<T>(_ key: some CodingKey, _ convert: (ArchivedNumber) -> T?) throws -> T? {
        guard let reference = try find(key.stringValue) else { return nil }
        if let number = try unarchiver.source.number(at: reference), let value = convert(number) { return value }
        if try unarchiver.isAbsent(reference) { return nil }
        return try decoder(key, at: reference).number(convert)
    }

    @inline(__always)
    func integer<T: FixedWidthInteger>(_ key: some CodingKey) throws -> T {
        try number(key) { $0.integer(T.self) }
    }

    @inline(__always)
    func integerIfPresent<T: FixedWidthInteger>(_ key: some CodingKey) throws -> T? {
        try numberIfPresent(key) { $0.integer(T.self) }
    }

    @inline(__always)
    func text(_ key: some CodingKey, at reference: BinaryPropertyList.Reference) throws -> String {
        // The path is built only if this fails.
        if let text = try unarchiver.text(at: reference) { return text }
        if let text = try unarchiver.object(at: reference) as? String { return text }
        return try decoder(key, at: reference).intrinsic(String.self)
    }

    @inline(__always)
    func decode<T: Decodable>(
        _ type: T.Type,
        _ key: some CodingKey,
        at reference: BinaryPropertyList.Reference
    ) throws -> T {
        try unarchiver.plain(type, at: reference) { _ in try decoder(key, at: reference).decode(type) }
    }

    @inline(__always)
    func decoder(_ key: some CodingKey) throws -> ArchiveDecoder { try decoder(key, at: value(key)) }

    @inline(__always)
    func decoder(_ key: some CodingKey, at reference: BinaryPropertyList.Reference) -> ArchiveDecoder {
        ArchiveDecoder(unarchiver, at: reference, path: CodingPath(path, key))
    }
}
