import Foundation

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
    /// The requests that a plan expects.
    @exclusivity(unchecked) private var requests: PlannedRequests
    /// The number that the unarchiver's recorder has for this container.
    private let number: Int

    /// - Parameter root: the root's type if this is the root, which no dictionary can be.
    init(_ decoder: ArchiveDecoder, root: Any.Type?) throws {
        unarchiver = decoder.unarchiver
        path = decoder.path
        list = unarchiver.source.list
        if let plan = unarchiver.plan,
            let planned = plan.container(at: decoder.reference, rootType: root, for: unarchiver)
        {
            if root != nil { unarchiver.codableRoot.isChecked = true }
            scope = ArchiveScope(planned.fields)
            requests = plan.fields.requests(planned.requests)
            dictionary = nil
            number = 0
            return
        }
        requests = PlannedRequests()
        if root != nil { unarchiver.codableRoot.isChecked = true }
        guard let target = try unarchiver.source.resolve(decoder.reference) else {
            throw DecodingError.valueNotFound(
                [String: Any].self,
                path.context("nil, where an object is expected")
            )
        }
        guard case .dictionary(let fields) = try list.object(target) else {
            throw decoder.mismatch([String: Any].self, asked: "an object with keys")
        }
        scope = ArchiveScope(fields)
        let uid = try unarchiver.classUID(of: fields, at: target)
        if let root { try unarchiver.checkClass(uid, at: target, is: root) }
        number = unarchiver.recorder?.add(decoder.reference, fields, rootType: root) ?? 0
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
        if let field = requests.field(key) {
            requests.advance()
            return field.form == .absent ? nil : field.value
        }
        if dictionary == nil, unarchiver.recorder == nil, let next = scope.next(key, in: list) { return next }
        return try search(key)
    }

    // Apart: the fields that it changes count as used.
    @inline(never)
    private func search(_ key: String) throws(ArchiveError) -> BinaryPropertyList.Reference? {
        if let dictionary { return dictionary[key] }
        let value = try scope.value(of: key, in: list, &unarchiver.memory.keyOrder)
        unarchiver.recorder?.add(key, value, in: number)
        return value
    }

    @inline(__always)
    func value(_ key: some CodingKey) throws -> BinaryPropertyList.Reference {
        try value(key, key.stringValue)
    }

    @inline(__always)
    private func value(_ key: some CodingKey, _ name: String) throws -> BinaryPropertyList.Reference {
        if let reference = try find(name) { return reference }
        throw DecodingError.keyNotFound(key, path.context("no value"))
    }

    // MARK: Decoding

    // Inlined, here and below: the optional of a type that is not known takes 50 ns to make.
    @inline(__always)
    func number<T>(_ key: some CodingKey, _ convert: (ArchivedNumber) -> T?) throws -> T {
        let name = key.stringValue
        if let number = plannedNumber(name), let value = convert(number) {
            requests.advance()
            return value
        }
        let reference = try value(key, name)
        if let number = try unarchiver.source.number(at: reference), let value = convert(number) { return value }
        return try decoder(key, at: reference).number(convert)
    }

    /// `nil` if there is no value, or it is nil.
    @inline(__always)
    func numberIfPresent<T>(_ key: some CodingKey, _ convert: (ArchivedNumber) -> T?) throws -> T? {
        let name = key.stringValue
        if let number = plannedNumber(name), let value = convert(number) {
            requests.advance()
            return value
        }
        guard let reference = try find(name) else { return nil }
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
    func text(_ key: some CodingKey) throws -> String {
        let name = key.stringValue
        if let text = try plannedText(name) { return text }
        return try text(key, at: value(key, name))
    }

    @inline(__always)
    func textIfPresent(_ key: some CodingKey) throws -> String? {
        let name = key.stringValue
        if let text = try plannedText(name) { return text }
        guard let reference = try find(name) else { return nil }
        if let text = try unarchiver.text(at: reference) { return text }
        if try unarchiver.isAbsent(reference) { return nil }
        return try text(key, at: reference)
    }

    private func text(_ key: some CodingKey, at reference: BinaryPropertyList.Reference) throws -> String {
        // The path is built only if this fails.
        if let text = try unarchiver.text(at: reference) { return text }
        if let text = try unarchiver.object(at: reference) as? String { return text }
        return try decoder(key, at: reference).intrinsic(String.self)
    }

    @inline(__always)
    func decode<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T {
        let name = key.stringValue
        return try planned(type, key, named: name, isOptional: false) {
            $0
        } else: {
            let reference = try value(key, name)
            unarchiver.recorder?.note(type, in: number)
            return try unarchiver.plain(type, at: reference) { _ in try decoder(key, at: reference).decode(type) }
        }
    }

    @inline(__always)
    func decodeIfPresent<T: Decodable>(_ type: T.Type, _ key: some CodingKey) throws -> T? {
        let name = key.stringValue
        return try planned(type, key, named: name, isOptional: true) {
            $0
        } else: {
            let found = try find(name)
            unarchiver.recorder?.note(type, in: number)
            guard let reference = found else { return nil }
            // Most values are there, and of a type that tells by itself.
            return try unarchiver.plain(type, at: reference) {
                $0
            } else: { _ in
                if try unarchiver.isAbsent(reference) { return nil }
                return try decoder(key, at: reference).decode(type)
            }
        }
    }

    // MARK: By plan

    /// The number of a field that the plan expects next.
    @inline(__always)
    private func plannedNumber(_ key: String) -> ArchivedNumber? {
        guard let field = requests.field(key), field.form == .number else { return nil }
        return list.usualNumber(field.target)
    }

    /// The text of a field that the plan expects next.
    @inline(__always)
    private func plannedText(_ key: String) throws(ArchiveError) -> String? {
        guard let field = requests.field(key), field.form == .text,
            let text = try list.usualString(field.target)
        else { return nil }
        requests.advance()
        return text
    }

    /// Decodes a value of a field that the plan expects next; `other` decodes all else.
    ///
    /// - Parameters:
    ///   - isOptional: whether the value may be nil.
    ///   - then: is called with the value.
    @inline(__always)
    private func planned<T: Decodable, Result>(
        _ type: T.Type,
        _ key: some CodingKey,
        named name: String,
        isOptional: Bool,
        then: (T) throws -> Result,
        else other: () throws -> Result
    ) throws -> Result {
        guard let field = requests.field(name), field.isOf(type) else { return try other() }
        switch field.form {
        case .date:
            guard case .double(let seconds)? = list.usualNumber(field.target) else { break }
            requests.advance()
            return try then(identity(Date(timeIntervalSinceReferenceDate: seconds), as: type))
        case .url:
            guard let text = try list.usualString(field.target), let url = URL(string: text, relativeTo: nil) else {
                break
            }
            requests.advance()
            return try then(identity(url, as: type))
        case .uuid:
            guard let uuid = list.usualUUID(field.target) else { break }
            requests.advance()
            return try then(identity(uuid, as: type))
        case .texts:
            guard let plan = unarchiver.plan, let texts = try plan.texts(field.members, in: list) else { break }
            requests.advance()
            return try then(identity(texts, as: type))
        case .own:
            if isOptional, !field.isObject, !list.isUsualValue(field.target) { break }
            requests.advance()
            try unarchiver.nesting.enter()
            defer { unarchiver.nesting.leave() }
            return try then(T(from: decoder(key, at: field.value)))
        default: break
        }
        return try other()
    }

    // MARK: Decoders

    @inline(__always)
    func decoder(_ key: some CodingKey) throws -> ArchiveDecoder { try decoder(key, at: value(key)) }

    @inline(__always)
    func decoder(_ key: some CodingKey, at reference: BinaryPropertyList.Reference) -> ArchiveDecoder {
        ArchiveDecoder(unarchiver, at: reference, path: CodingPath(path, key))
    }
}
