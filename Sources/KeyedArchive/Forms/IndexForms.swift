import Foundation

// NSIndexSet, NSMutableIndexSet:
//
//     NSRangeCount           how many ranges
//     NSLocation, NSLength   of the one range
//     NSRangeData            of several: data, packed pairs of location and length, ascending
//
// NSIndexPath:
//
//     NSIndexPathLength      how many indexes
//     NSIndexPathValue       the one index
//     NSIndexPathData        several: data, packed

extension IndexSet: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSIndexSet.self) { archiver.encodeIndexes(rangeView.map { NSRange($0) }) }
    }
}

extension NSIndexSet: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        let type: AnyClass = self is NSMutableIndexSet ? NSMutableIndexSet.self : NSIndexSet.self
        return archiver.form(type, of: self) {
            var ranges: [NSRange] = []
            enumerateRanges(options: []) { range, _ in ranges.append(range) }
            archiver.encodeIndexes(ranges)
        }
    }
}

extension IndexPath: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSIndexPath.self) { archiver.encodePath(Array(self)) }
    }
}

extension NSIndexPath: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        archiver.form(NSIndexPath.self, of: self) {
            archiver.encodePath((0..<length).map { index(atPosition: $0) })
        }
    }
}

extension KeyedArchiver {
    fileprivate func encodeIndexes(_ ranges: [NSRange]) {
        encode(ranges.count, forKey: "NSRangeCount")
        if ranges.count == 1 {
            encode(ranges[0].location, forKey: "NSLocation")
            encode(ranges[0].length, forKey: "NSLength")
        } else if ranges.count > 1 {
            let numbers = ranges.flatMap {
                [UInt64(truncatingIfNeeded: $0.location), UInt64(truncatingIfNeeded: $0.length)]
            }
            encode(PackedIntegers.data(numbers), forKey: "NSRangeData")
        }
    }

    fileprivate func encodePath(_ indexes: [Int]) {
        encode(indexes.count, forKey: "NSIndexPathLength")
        if indexes.count == 1 {
            encode(indexes[0], forKey: "NSIndexPathValue")
        } else if indexes.count > 1 {
            // Indexes below 0 are no sensible ones, but Foundation lets them be.
            encode(PackedIntegers.data(indexes.map { UInt64(bitPattern: Int64($0)) }), forKey: "NSIndexPathData")
        }
    }
}

extension FoundationForm {
    static let indexes = [
        FoundationForm("NSIndexSet", indexSet), FoundationForm("NSMutableIndexSet", mutableIndexSet),
        FoundationForm("NSIndexPath", indexPath),
    ]

    private static func indexSet(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        var indexes = IndexSet()
        for range in try ranges(&fields) { indexes.insert(integersIn: range) }
        return indexes
    }

    private static func mutableIndexSet(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let indexes = NSMutableIndexSet()
        for range in try ranges(&fields) { indexes.add(in: NSRange(range)) }
        return indexes
    }

    private static func ranges(_ fields: inout FormFields) throws(ArchiveError) -> [Range<Int>] {
        let count = try fields.requiredInteger("NSRangeCount")
        if count == 0 { return [] }
        let numbers: [UInt64]
        if count == 1 {
            let location = try fields.requiredInteger("NSLocation")
            let length = try fields.requiredInteger("NSLength")
            guard location >= 0, length >= 0 else { throw fields.malformed("with a range below 0") }
            numbers = [UInt64(location), UInt64(length)]
        } else {
            numbers = try packed("NSRangeData", &fields)
        }
        guard numbers.count % 2 == 0, numbers.count / 2 == count else {
            throw fields.malformed("with another number of ranges than it says")
        }
        var ranges: [Range<Int>] = []
        var end = 0
        for index in stride(from: 0, to: numbers.count, by: 2) {
            // Foundation adds locations and lengths without looking, and inserting in any order takes long.
            guard let location = Int(exactly: numbers[index]), let length = Int(exactly: numbers[index + 1]),
                location >= end, length <= Int.max - location
            else { throw fields.malformed("with ranges that do not ascend") }
            end = location + length
            if length > 0 { ranges.append(location..<end) }
        }
        return ranges
    }

    private static func indexPath(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let length = try fields.requiredInteger("NSIndexPathLength")
        if length == 0 { return IndexPath() }
        if length == 1 { return IndexPath(index: try fields.requiredInteger("NSIndexPathValue")) }
        let numbers = try packed("NSIndexPathData", &fields)
        guard numbers.count == length else { throw fields.malformed("with another length than it says") }
        return IndexPath(indexes: numbers.map { Int(truncatingIfNeeded: $0) })
    }

    static func packed(_ key: String, _ fields: inout FormFields) throws(ArchiveError) -> [UInt64] {
        guard let numbers = PackedIntegers.numbers(in: try fields.required(Data.self, key)) else {
            throw fields.malformed("with numbers that are cut off or too wide")
        }
        try fields.unarchiver.budget.spend(numbers.count)
        return numbers
    }
}
