import Foundation

// NSAttributedString, NSMutableAttributedString:
//
//     NSString          the text
//     NSAttributes      of one run: a dictionary; of several: an array of dictionaries
//     NSAttributeInfo   of several runs: data, packed pairs of a run's length, in UTF-16 code units, and the
//                       position of its dictionary in the array
//
// Without attributes there is only the text.

extension NSAttributedString: ArchiveCollection {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let type: AnyClass =
            isMutable(self, NSMutableAttributedString.self)
            ? NSMutableAttributedString.self : NSAttributedString.self
        return archiver.form(type, of: self) {
            archiver.encode(string, forKey: "NSString")
            let runs = AttributeRuns(self)
            if runs.lengths.count > 1 {
                archiver.encode(runs.attributes, forKey: "NSAttributes")
                archiver.encode(PackedIntegers.data(runs.info), forKey: "NSAttributeInfo")
            } else if let only = runs.attributes.first, !only.isEmpty {
                archiver.encode(only, forKey: "NSAttributes")
            }
        }
    }
}

/// The runs of an attributed string, and the attributes that they have.
private struct AttributeRuns {
    /// How many dictionaries are searched for one that is there already.
    private static let searchLimit = 16

    private(set) var attributes: [[String: Any]] = []
    private(set) var lengths: [Int] = []
    private var positions: [Int] = []

    init(_ text: NSAttributedString) {
        var known: [NSDictionary] = []
        var at = 0
        while at < text.length {
            var range = NSRange()
            let found = text.attributes(at: at, effectiveRange: &range)
            let named = Dictionary(uniqueKeysWithValues: found.map { ($0.key.rawValue, $0.value) })
            let dictionary = named as NSDictionary
            let recent = known.suffix(Self.searchLimit)
            if let position = recent.lastIndex(where: { $0.isEqual(dictionary) }) {
                positions.append(position)
            } else {
                positions.append(known.count)
                known.append(dictionary)
                attributes.append(named)
            }
            lengths.append(range.location + range.length - at)
            at = range.location + range.length
        }
    }

    var info: [UInt64] { zip(lengths, positions).flatMap { [UInt64($0), UInt64($1)] } }
}

extension FoundationForm {
    static let attributedTexts = [
        FoundationForm("NSAttributedString", attributedString),
        FoundationForm("NSMutableAttributedString", mutableAttributedString),
    ]

    private static func attributedString(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        NSAttributedString(attributedString: try attributedText(&fields))
    }

    private static func mutableAttributedString(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        try attributedText(&fields)
    }

    private typealias Attributes = [NSAttributedString.Key: Any]

    private static func attributedText(
        _ fields: inout FormFields
    ) throws(ArchiveError) -> NSMutableAttributedString {
        let text = NSMutableAttributedString(string: try fields.counted(fields.required(String.self, "NSString")))
        guard try fields.contains("NSAttributeInfo") else {
            if let attributes = try fields.object("NSAttributes") {
                let whole = NSRange(location: 0, length: text.length)
                text.setAttributes(try keyed(attributes, fields).attributes, range: whole)
            }
            return text
        }
        let info = try packed("NSAttributeInfo", &fields)
        var table: [(attributes: Attributes, weight: Int)] = []
        for attributes in try fields.required([Any].self, "NSAttributes") {
            table.append(try keyed(attributes, fields))
        }
        guard info.count % 2 == 0 else { throw fields.malformed("with half a run") }
        var at = 0
        for index in stride(from: 0, to: info.count, by: 2) {
            guard let length = Int(exactly: info[index]), length > 0, length <= text.length - at,
                let position = Int(exactly: info[index + 1]), position < table.count
            else { throw fields.malformed("with runs that do not fit its text or attributes") }
            // Foundation compares the attributes of neighbours, to join the runs.
            try fields.unarchiver.budget.spend(table[position].weight)
            text.setAttributes(table[position].attributes, range: NSRange(location: at, length: length))
            at += length
        }
        guard at == text.length else { throw fields.malformed("with runs that end before its text") }
        return text
    }

    /// A run's attributes, and their weight.
    private static func keyed(
        _ object: Any,
        _ fields: FormFields
    ) throws(ArchiveError) -> (attributes: Attributes, weight: Int) {
        guard let dictionary = object as? [String: Any] else {
            throw fields.malformed("with attributes that are not a dictionary")
        }
        let weight = try AttributeWeight.weight(of: dictionary) { count throws(ArchiveError) in
            try fields.unarchiver.budget.spend(count)
        }
        return (
            Attributes(uniqueKeysWithValues: dictionary.map { (NSAttributedString.Key($0.key), $0.value) }), weight
        )
    }
}

/// The work of comparing the attributes of two runs.
package enum AttributeWeight {
    /// How many values the attributes hold, counted as often as they are referred to; long texts and data count more.
    ///
    /// - Parameter spend: counts the values that are walked over.
    package static func weight(
        of attributes: [String: Any],
        spend: (Int) throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> Int {
        var weight = 1
        var rest: [Any] = [attributes]
        // A list rather than recursion: an archive may nest values to any depth.
        while let next = rest.popLast() {
            weight += 1
            try spend(1)
            switch next {
            case let members as [Any]: rest += members
            case let entries as [AnyHashable: Any]: rest += entries.values + entries.keys.map(\.base)
            case let members as NSOrderedSet: rest += members.array
            case let members as Set<AnyHashable>: rest += members.map(\.base)
            case let text as String: weight += text.utf8.count / 16
            case let data as Data: weight += data.count / 16
            case let error as NSError: rest += error.userInfo.values
            case let text as NSAttributedString: weight += text.length * 16
            default: break
            }
        }
        return weight
    }
}
