/// The beginning of an archive, up to the end of its last container. Every fact that is read from it depends on these
/// bytes and on the offsets of the objects in them alone.
///
/// Each `nil` is for something that is not all there.
struct ArchiveShape {
    private let source: ArchiveSource
    private var list: BinaryPropertyList { source.list }
    /// Where the last container ends.
    let end: Int

    /// `nil` if the objects and the outermost scope do not stand before the end of the top object.
    init?(_ source: ArchiveSource) {
        self.source = source
        let list = source.list
        guard let top = list.knownOffset(of: list.top), let parts = try? list.fields(list.top) else { return nil }
        end = parts.start + 2 * parts.count * list.referenceWidth
        guard top < end, end <= list.table,
            source.objects.start + source.objects.count * list.referenceWidth <= end,
            isWhole(source.top)
        else { return nil }
        for index in 0..<parts.count {
            guard text(list.key(parts, index)) != nil else { return nil }
        }
        // Its version and archiver were read, too.
        guard let version = list.knownOffset(of: list.value(parts, 0)), version + 5 <= end,
            parts.count == 4, text(list.value(parts, 1)) != nil,
            holds(list.value(parts, 2)), holds(list.value(parts, 3)), hasKeysInShape(source.top)
        else { return nil }
    }

    /// Whether an object stands in the shape.
    func holds(_ reference: BinaryPropertyList.Reference) -> Bool {
        list.knownOffset(of: reference).map { $0 < end } ?? false
    }

    private func isWhole(_ fields: BinaryPropertyList.Fields) -> Bool {
        fields.start + 2 * fields.count * list.referenceWidth <= end
    }

    private func hasKeysInShape(_ fields: BinaryPropertyList.Fields) -> Bool {
        (0..<fields.count).allSatisfy { text(list.key(fields, $0)) != nil }
    }

    /// A text in the shape.
    private func text(_ reference: BinaryPropertyList.Reference) -> Range<Int>? {
        guard holds(reference), let range = list.usualText(reference), range.upperBound <= end else { return nil }
        return range
    }

    private func isText(_ reference: BinaryPropertyList.Reference, _ text: StaticString) -> Bool {
        guard let range = self.text(reference) else { return false }
        return list.hold("\(text)", in: range)
    }

    private func uid(_ reference: BinaryPropertyList.Reference) -> UInt32? {
        guard let offset = list.knownOffset(of: reference), offset + 5 <= end else { return nil }
        return (try? list.uid(reference)).flatMap { $0 }
    }

    /// The object that a value is a reference to.
    func object(_ value: BinaryPropertyList.Reference) -> BinaryPropertyList.Reference? {
        guard let uid = uid(value), uid < source.objects.count else { return nil }
        return list.element(source.objects, Int(uid))
    }

    /// The keys and values of an object, all keys of which are texts in the shape.
    func fields(_ reference: BinaryPropertyList.Reference) -> BinaryPropertyList.Fields? {
        guard holds(reference), let fields = (try? list.fields(reference)).flatMap({ $0 }), isWhole(fields),
            hasKeysInShape(fields)
        else { return nil }
        return fields
    }

    /// The name of an object's class.
    func className(of fields: BinaryPropertyList.Fields) -> Range<Int>? {
        let last = fields.count - 1
        guard last >= 0, isText(list.key(fields, last), "$class"), let place = object(list.value(fields, last)),
            let description = self.fields(place), description.count == 2,
            isText(list.key(description, 0), "$classname")
        else { return nil }
        return text(list.value(description, 0))
    }

    private func fields(
        _ reference: BinaryPropertyList.Reference,
        count: Int,
        of className: StaticString
    ) -> BinaryPropertyList.Fields? {
        guard let fields = fields(reference), fields.count == count, let name = self.className(of: fields),
            list.hold("\(className)", in: name)
        else { return nil }
        return fields
    }

    // MARK: Requests

    /// The field that a request asks for.
    ///
    /// - Parameter value: the value that the key has; `nil` if it has none.
    func field(
        _ key: String,
        _ value: BinaryPropertyList.Reference?,
        type: Any.Type?,
        membersTo plan: inout PlannedFields
    ) -> PlannedField {
        guard let value else { return PlannedField(key: key, type: type, form: .absent, value: -1) }
        var (form, target) = (PlannedField.Form.other, BinaryPropertyList.Reference(-1))
        var members = 0..<0
        switch type.map(CodableKind.init) {
        case nil:
            if !holds(value) {
                (form, target) = (.number, value)
            } else if let object = object(value), !holds(object) {
                (form, target) = (.text, object)
            }
        case .own:
            if !holds(value) {
                (form, target) = (.own, value)
            } else if let object = object(value) {
                if !holds(object) { (form, target) = (.own, object) } else if fields(object) != nil { form = .own }
            }
        case .date:
            if let seconds = soleValue(of: value, "NS.time", className: "NSDate"), !holds(seconds) {
                (form, target) = (.date, seconds)
            }
        case .uuid:
            if let bytes = soleValue(of: value, "NS.uuidbytes", className: "NSUUID"), !holds(bytes) {
                (form, target) = (.uuid, bytes)
            }
        case .url:
            if let text = relativeURL(value) { (form, target) = (.url, text) }
        case .strings:
            if let texts = texts(value) {
                form = .texts
                members = plan.append(members: texts)
            }
        default: break
        }
        return PlannedField(key: key, type: type, form: form, value: value, target: target, members: members)
    }

    /// The value of an object's one key besides its class.
    private func soleValue(
        of value: BinaryPropertyList.Reference,
        _ key: StaticString,
        className: StaticString
    ) -> BinaryPropertyList.Reference? {
        guard let object = object(value), let fields = fields(object, count: 2, of: className),
            isText(list.key(fields, 0), key)
        else { return nil }
        return list.value(fields, 0)
    }

    /// The text of a URL without a base.
    private func relativeURL(_ value: BinaryPropertyList.Reference) -> BinaryPropertyList.Reference? {
        guard let object = object(value), let fields = fields(object, count: 3, of: "NSURL"),
            isText(list.key(fields, 0), "NS.base"), isText(list.key(fields, 1), "NS.relative"),
            let base = self.object(list.value(fields, 0)), isText(base, "$null"),
            let text = self.object(list.value(fields, 1)), !holds(text)
        else { return nil }
        return text
    }

    /// The members of an array of texts.
    private func texts(_ value: BinaryPropertyList.Reference) -> [BinaryPropertyList.Reference]? {
        guard let array = soleValue(of: value, "NS.objects", className: "NSArray"), holds(array),
            case .array(let run)? = try? list.object(array), run.start + run.count * list.referenceWidth <= end
        else { return nil }
        var texts: [BinaryPropertyList.Reference] = []
        for index in 0..<run.count {
            guard let text = object(list.element(run, index)), !holds(text) else { return nil }
            texts.append(text)
        }
        return texts
    }
}
