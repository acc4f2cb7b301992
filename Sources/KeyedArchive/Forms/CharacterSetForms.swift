import Foundation

// NSCharacterSet, NSMutableCharacterSet: one of
//
//     NSRange                        location << 32 | length
//     NSString, NSStringObject       the members in a string, inline or as an object
//     NSBitmap, NSBitmapObject       the members as bits, inline or as an object
//     NSBuiltinID, NSBuiltinID2      the number of one of Foundation's own sets
//
// and
//
//     NSIsInverted, NSIsInverted2    Boolean: whether the set is all characters but these
//
// NSBuiltinID2 and NSIsInverted2 stand beside bits that say the same.

// No set's member or dictionary's key in an archive: Foundation gives most of them one hash, and comparing two can
// take a millisecond.
extension CharacterSet: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSCharacterSet.self) { archiver.encode(characters: self) }
    }
}

extension NSCharacterSet: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let type: AnyClass =
            isMutable(self, NSMutableCharacterSet.self) ? NSMutableCharacterSet.self : NSCharacterSet.self
        return archiver.form(type, of: self) { archiver.encode(characters: self as CharacterSet) }
    }
}

extension KeyedArchiver {
    private static let memberLimit = 64

    fileprivate func encode(characters set: CharacterSet) {
        let bits = (set as NSCharacterSet).bitmapRepresentation
        if let bitmap = CharacterBitmap(bits) {
            if let ranges = bitmap.ranges(inverted: false, limit: Self.memberLimit), encode(ranges: ranges) {
                return
            }
            // Foundation on Linux reads the inverse of a range, but not that of a string.
            if let ranges = bitmap.ranges(inverted: true, limit: 1), encode(ranges: ranges) {
                return encode(true, forKey: "NSIsInverted")
            }
        }
        for (index, known) in FoundationForm.builtinCharacterSets.enumerated() {
            if set == known { return encode(index + 1, forKey: "NSBuiltinID") }
            guard set == known.inverted else { continue }
            encode(index + 1, forKey: "NSBuiltinID")
            return encode(true, forKey: "NSIsInverted")
        }
        encode(inline: bits, forKey: "NSBitmap")
    }

    /// Encodes a range or a few members; `false` if they are too many, or not for every reader.
    private func encode(ranges: [Range<UInt32>]) -> Bool {
        if ranges.count <= 1 {
            let range = ranges.first ?? 0..<0
            encode(Int64(range.lowerBound) << 32 | Int64(range.count), forKey: "NSRange")
            return true
        }
        // Foundation on Linux takes scalars above U+FFFF in strings for something else.
        let scalars = ranges.joined().prefix(Self.memberLimit + 1).map { $0 < 0x1_0000 ? Unicode.Scalar($0) : nil }
        guard scalars.count <= Self.memberLimit, !scalars.contains(nil) else { return false }
        encode(inline: String(String.UnicodeScalarView(scalars.compactMap(\.self))), forKey: "NSString")
        return true
    }
}

extension FoundationForm {
    static let characterSets = [
        FoundationForm("NSCharacterSet", characterSet),
        FoundationForm("NSMutableCharacterSet", mutableCharacterSet),
    ]

    /// Foundation's own sets, in the order of their numbers, which begin at 1.
    fileprivate static let builtinCharacterSets: [CharacterSet] = [
        .controlCharacters, .whitespaces, .whitespacesAndNewlines, .decimalDigits, .letters, .lowercaseLetters,
        .uppercaseLetters, .nonBaseCharacters, .decomposables, .alphanumerics, .punctuationCharacters,
        .illegalCharacters, .capitalizedLetters, .symbols, .newlines,
    ]

    private static func mutableCharacterSet(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        // A copy: on Linux, only copies can be changed; to change one of any other origin ends the process.
        (try characters(&fields) as NSCharacterSet).mutableCopy()
    }

    private static func characterSet(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        try characters(&fields)
    }

    private static func characters(_ fields: inout FormFields) throws(ArchiveError) -> CharacterSet {
        let isInverted = try fields.bool("NSIsInverted")
        var isInvertedToo = false
        let set: CharacterSet
        // The bits first: they need no knowledge of this system's own sets.
        if let data = try optional(Data.self, "NSBitmap", or: "NSBitmapObject", in: &fields) {
            guard let bitmap = CharacterBitmap(data) else { throw fields.malformed("with bits of another layout") }
            try fields.unarchiver.budget.spend(bytes: bitmap.data.count / 4)
            set = CharacterSet(bitmapRepresentation: bitmap.data)
        } else if let range = try fields.integer("NSRange") {
            let (location, length) = (range >> 32, range & 0xFFFF_FFFF)
            guard location >= 0, location + length <= CharacterBitmap.end else {
                throw fields.malformed("with a range outside Unicode")
            }
            set = NSCharacterSet(range: NSRange(location: location, length: length)) as CharacterSet
        } else if let text = try optional(String.self, "NSString", or: "NSStringObject", in: &fields) {
            var bitmap = CharacterBitmap()
            for scalar in try fields.counted(text).unicodeScalars { bitmap.insert(scalar.value) }
            // A few characters of high planes are 139 KB of bits.
            try fields.unarchiver.budget.spend(bytes: bitmap.data.count / 4)
            set = CharacterSet(bitmapRepresentation: bitmap.data)
        } else if let number = try fields.integer("NSBuiltinID"), number != 0 {
            set = try builtin(number, fields)
        } else if let number = try fields.integer("NSBuiltinID2") {
            set = try builtin(number, fields)
            isInvertedToo = try fields.bool("NSIsInverted2")
        } else {
            throw fields.malformed()
        }
        return isInverted || isInvertedToo ? set.inverted : set
    }

    private static func optional<T>(
        _ type: T.Type,
        _ key: String,
        or other: String,
        in fields: inout FormFields
    ) throws(ArchiveError) -> T? {
        if let value = try fields.optional(type, key) { return value }
        return try fields.optional(type, other)
    }

    private static func builtin(_ number: Int, _ fields: FormFields) throws(ArchiveError) -> CharacterSet {
        guard (1...builtinCharacterSets.count).contains(number) else {
            throw fields.unknown("that is not a set of Foundation's here")
        }
        return builtinCharacterSets[number - 1]
    }
}
