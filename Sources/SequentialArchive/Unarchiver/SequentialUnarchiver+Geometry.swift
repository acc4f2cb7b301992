import Foundation
import KeyedArchive

extension SequentialUnarchiver {
    /// The next reals, in a structure or by themselves; zeros after an error.
    func decodeReals(_ count: Int) -> [Double] {
        attempt { () throws(ArchiveError) in try nextReals(count) } ?? Array(repeating: 0, count: count)
    }

    private func nextReals(_ count: Int) throws(ArchiveError) -> [Double] {
        var numbers: [Double] = []
        while numbers.count < count {
            try reader.spend(1)
            let type = try nextType()
            switch type {
            case .structure(_, let fields): frame.types += fields.reversed()
            case .float, .double: numbers.append(try real(type))
            default: throw mismatch(type, asked: .double)
            }
        }
        return numbers
    }

    /// The content of an `NSValue` with a structure.
    ///
    /// - Throws: `.unsupportedType` for structures that Foundation here has no values of.
    func specialValue(_ name: String?, _ fields: [ValueType], at offset: Int) throws(ArchiveError) -> SpecialValue {
        var reals: [CGFloat] = []
        var integers: [Int] = []
        var types = Array(fields.reversed())
        while let type = types.popLast() {
            try reader.spend(1)
            switch type {
            case .structure(_, let fields): types += fields.reversed()
            case .float, .double: reals.append(CGFloat(try real(type)))
            case .integer(let type):
                guard case .signed(let number) = try reader.integer(type), number >= 0 else {
                    throw reader.corrupted("a number that no range holds", at: offset)
                }
                integers.append(Int(number))
            default: throw unknownValue(at: offset)
            }
        }
        switch GeometryForm(name: name ?? "", realCount: reals.count, integerCount: integers.count) {
        case .point: return .point(CGPoint(x: reals[0], y: reals[1]))
        case .size: return .size(CGSize(width: reals[0], height: reals[1]))
        case .rect: return .rect(CGRect(x: reals[0], y: reals[1], width: reals[2], height: reals[3]))
        case .range: return .range(NSRange(location: integers[0], length: integers[1]))
        case nil: throw unknownValue(at: offset)
        }
    }

    func unknownValue(at offset: Int) -> ArchiveError {
        ArchiveError(
            .unsupportedType,
            "an NSValue that is not a number, point, size, rectangle or range; TypedStream reads the archive without making "
                + "objects",
            offset: offset
        )
    }
}
