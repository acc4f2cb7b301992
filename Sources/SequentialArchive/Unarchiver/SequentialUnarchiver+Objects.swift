import Foundation
import KeyedArchive

#if canImport(Darwin)
    import CCoding
#endif

extension SequentialUnarchiver {
    /// The number of a new entry; where a part of the stream is read again, the entry that it had the first time.
    func takeEntry(_ entry: @autoclosure () -> StreamEntry) -> Int {
        if nextEntry == entries.count { entries.append(entry()) }
        nextEntry += 1
        return nextEntry - 1
    }

    func enter() throws(ArchiveError) {
        do throws(ArchiveError) {
            try nesting.enter()
        } catch {
            throw ArchiveError(error.code, error.message, offset: reader.position)
        }
    }

    // MARK: Classes and C strings

    func cls() throws(ArchiveError) -> StreamClass? {
        if try reader.peek() == StreamTag.null {
            reader.position += 1
            return nil
        }
        if try reader.peek() != StreamTag.new { return try referencedClass(below: nextEntry) }
        var found: [(number: Int, name: String, version: Int)] = []
        let first = nextEntry
        while try reader.peek() == StreamTag.new {
            let start = reader.position
            reader.position += 1
            let number = takeEntry(.open(nil))
            guard let name = try reader.sharedString() else {
                throw reader.corrupted("a class without a name", at: start)
            }
            found.append((number, try className(name), Int(try reader.integer())))
            try reader.checkClassDepth(found.count)
        }
        var above: StreamClass?
        if try reader.peek() == StreamTag.null {
            reader.position += 1
        } else {
            // Classes before these end at a root class; these would end at themselves.
            above = try referencedClass(below: first)
        }
        try reader.checkClassDepth(found.count + (above?.depth ?? 0))
        for (number, name, version) in found.reversed() {
            if let known = knownClass(number) {
                above = known
            } else {
                let made = StreamClass(name: name, version: version, superclass: above)
                entries[number] = .cls(made)
                add(made, number)
                above = made
            }
        }
        return above
    }

    /// The name of a class, which any number of classes may share.
    private func className(_ number: Int) throws(ArchiveError) -> String {
        let name = try reader.text(ofString: number)
        guard name.utf8.count < ArchiveLimits.classNameLimit else {
            throw ArchiveError(.limitExceeded, "a class's name of more than 4,095 bytes", offset: reader.position)
        }
        // Each class is looked for by its name.
        try reader.spend(name.utf8.count / 8)
        return name
    }

    private func referencedClass(below end: Int) throws(ArchiveError) -> StreamClass {
        let start = reader.position
        guard let known = knownClass(try reader.reference(below: end)) else {
            throw reader.corrupted("a reference to something that is not a class", at: start)
        }
        return known
    }

    private func knownClass(_ number: Int) -> StreamClass? {
        number < knownClasses.count ? knownClasses[number] : nil
    }

    private func add(_ cls: StreamClass, _ number: Int) {
        while knownClasses.count <= number { knownClasses.append(nil) }
        knownClasses[number] = cls
        if versions[cls.name] == nil { versions[cls.name] = cls.version }
    }

    func cString() throws(ArchiveError) -> [UInt8]? {
        let start = reader.position
        switch try reader.peek() {
        case StreamTag.null:
            reader.position += 1
            return nil
        case StreamTag.new:
            reader.position += 1
            guard let number = try reader.sharedString(), reader.isCString(number) else {
                throw reader.corrupted("an invalid C string", at: start)
            }
            let bytes = reader.bytes(ofString: number)
            _ = takeEntry(.cString(bytes))
            return bytes
        default:
            guard case .cString(let bytes) = entries[try reader.reference(below: nextEntry)] else {
                throw reader.corrupted("a reference to something that is not a C string", at: start)
            }
            return bytes
        }
    }

    /// The way in which objects of a class are decoded, if that is allowed.
    private func resolve(_ cls: StreamClass, at offset: Int) throws(ArchiveError) -> ResolvedClass {
        if let known = cls.resolved { return known }
        var found: ResolvedClass
        if let intrinsic = Self.intrinsics[classNameDecoded(forArchiveClassName: cls.name)] {
            guard cls.version == intrinsic.version else {
                throw ArchiveError(
                    .unsupportedFormat,
                    "version \(cls.version) of \(cls.name); version \(intrinsic.version) is read",
                    offset: offset
                )
            }
            found = .intrinsic(intrinsic.read)
            if classNameDecoded(forArchiveClassName: cls.name) == "NSString" { found = .string }
        } else if let type = ClassResolver.decodable(try allowedClass(cls, at: offset)) {
            found = .coding(type)
        } else {
            throw ArchiveError(
                .classNotAllowed,
                "class \(Self.shown(cls.name)), which does not adopt NSCoding or is Foundation's",
                offset: offset
            )
        }
        cls.resolved = found
        return found
    }

    private static func shown(_ name: String) -> String {
        EscapedText.masked(name, prefix: ClassResolver.shownNameLength)
    }

    /// The class of the process for a class of the archive, if it may be instantiated.
    func allowedClass(_ cls: StreamClass, at offset: Int? = nil) throws(ArchiveError) -> AnyClass {
        let name = classNameDecoded(forArchiveClassName: cls.name)
        guard let found = expected.find(name) ?? expected.find(former: name), expected.allows(found) else {
            throw ArchiveError(
                .classNotAllowed,
                "class \(Self.shown(name)) is not among those expected here; name it with classes: or allowing:, "
                    + "or give its name to a class that is expected with decodeClassName(_:asClassName:)",
                offset: offset ?? reader.position
            )
        }
        return found
    }

    // MARK: Objects

    /// The object that follows: nil, a reference, or a new one.
    func object() throws(ArchiveError) -> Any? {
        switch try reader.peek() {
        case StreamTag.null:
            reader.position += 1
            return nil
        case StreamTag.new: return try newObject()
        default:
            let start = reader.position
            return try known(try reader.reference(below: nextEntry), at: start)
        }
    }

    private func known(_ number: Int, at offset: Int) throws(ArchiveError) -> Any {
        switch entries[number] {
        case .object(let object, let held):
            self.held = held
            return replacement(of: object)
        case .open(let cls): return try placeholder(number, cls, at: offset)
        case .skipped(let position, let nextString):
            let outer = (reader.position, reader.nextString, nextEntry, frame)
            (reader.position, reader.nextString, nextEntry) = (position, nextString, number)
            defer { (reader.position, reader.nextString, nextEntry, frame) = outer }
            return try newObject()
        case .cls, .cString: throw reader.corrupted("a reference to something that is not an object", at: offset)
        }
    }

    private func newObject() throws(ArchiveError) -> Any {
        let start = reader.position
        reader.position += 1
        let isNew = nextEntry == entries.count
        let number = takeEntry(.open(nil))
        if !isNew {
            switch entries[number] {
            case .object, .open(.some):
                // Met again, because an object around it was passed over before.
                try skipContents()
                return try known(number, at: start)
            default: entries[number] = .open(nil)
            }
        }
        guard let cls = try cls() else { throw reader.corrupted("an object without a class", at: start) }
        let resolved = try resolve(cls, at: start)
        if case .string = resolved, let text = try plainText() {
            held = 1
            entries[number] = .object(text, held: 1)
            return text
        }
        try enter()
        defer { nesting.leave() }
        entries[number] = .open(cls)
        let outer = frame
        frame = StreamFrame(cls: cls)
        held = 1
        let value: Any
        do throws(ArchiveError) {
            switch resolved {
            case .string:
                guard let text = try nextText() else {
                    throw reader.corrupted("a string that is not in UTF-8", at: start)
                }
                value = text
            case .intrinsic(let read): value = try read(self, number)
            case .coding(let type):
                value = try instance(of: type, number, at: start)
                held = 1
            }
            try skipRest()
        } catch {
            // The path is added to the error that was recorded first, from the inside out.
            record(error)
            locate(within: Self.shown(cls.name))
            throw error
        }
        frame = outer
        entries[number] = .object(value, held: held)
        return replacement(of: value)
    }

    /// The text of a string object that is stored as Apple's archiver does, with its end; `nil` for all else, with the
    /// reader where it was.
    private func plainText() throws(ArchiveError) -> String? {
        let start = (reader.position, reader.nextString)
        if try reader.peek() != StreamTag.end, reader.type(ofString: try reader.group()) == .bytes,
            try reader.peek() != StreamTag.null, case let range = try reader.raw(reader.count()),
            try reader.peek() == StreamTag.end, let text = reader.text(in: range)
        {
            reader.position += 1
            return text
        }
        (reader.position, reader.nextString) = start
        return nil
    }

    /// Counts the members of a collection with those of its members.
    func hold(_ count: Int) throws(ArchiveError) {
        guard count <= heldLimit else {
            throw ArchiveError(
                .limitExceeded,
                "collections hold far more members than the archive's size can justify",
                offset: reader.position
            )
        }
        held = count
    }

    /// Has a class decode an object of its own.
    private func instance(of type: any NSCoding.Type, _ number: Int, at offset: Int) throws(ArchiveError) -> Any {
        #if canImport(Darwin)
            var raised: NSException?
            let depth = nesting.depth
            defer { allocated[number] = nil }
            let made = anyClass(type).flatMap { cls in
                coding_decode(cls, self, { self.allocated[number] = $0 as AnyObject }, &raised)
            }
            if let raised {
                nesting.leave(downTo: depth)
                record(ArchiveError(.decodingFailed, raised, in: "init(coder:)", of: type))
            }
        #else
            var made: Any? = type.init(coder: self)
        #endif
        if let error = error as? ArchiveError { throw error }
        guard made != nil else {
            throw ArchiveError(
                .decodingFailed,
                "the init(coder:) of \(ClassNames.name(of: type)) returned nil",
                offset: offset
            )
        }
        #if !canImport(Darwin)
            if let placeholder = placeholders[number] {
                try placeholder.complete(from: &made, isTrial: false)
                placeholders[number] = nil
            }
        #endif
        guard let made else { throw reader.corrupted("an object without a value", at: offset) }
        return made
    }

    /// The instance that stands for an object that is still being decoded.
    private func placeholder(_ number: Int, _ cls: StreamClass?, at offset: Int) throws(ArchiveError) -> Any {
        held = 1
        // Handed only to an object, never to another collection: from collections that contain each other, Foundation
        // makes Swift ones without end as soon as a program looks into them.
        if let collection = openCollections[number], case .coding? = frame.cls?.resolved { return collection }
        #if canImport(Darwin)
            if let object = allocated[number] { return object }
        #else
            if let known = placeholders[number] { return known.object }
            if let cls, case .coding(let type)? = cls.resolved, let found = type as? AnyClass {
                let made = try PlaceholderInstance(of: found)
                placeholders[number] = made
                return made.object
            }
        #endif
        throw ArchiveError(.cyclicReference, "an object that contains itself", offset: offset)
    }
}
