import Foundation
import KeyedArchive

extension SequentialArchiver {
    /// Encodes the numbers of a structure.
    func encode(_ numbers: [CGFloat], as form: GeometryForm) {
        if hasFailed { return }
        writer.write(shared: form.rawValue)
        for number in numbers {
            let float = Float(number)
            guard float.isFinite || !number.isFinite else {
                return record(ArchiveError(.outOfRange, "a coordinate that is too large for a float"))
            }
            writer.write(float)
        }
    }

    /// Writes an `NSValue`.
    func write(_ value: SpecialValue, identity: AnyObject? = nil) {
        switch value {
        case .point(let point): write([point.x, point.y], as: .point, identity: identity)
        case .size(let size): write([size.width, size.height], as: .size, identity: identity)
        case .rect(let rect):
            write([rect.origin.x, rect.origin.y, rect.size.width, rect.size.height], as: .rect, identity: identity)
        case .range(let range):
            write(NSValue.self, identity: identity) {
                writer.write(type: UInt8(ascii: "*"))
                write(cString: Array(GeometryForm.range.rawValue.utf8))
                writer.write(shared: GeometryForm.range.rawValue)
                writer.write(.signed(Int64(range.location)), as: .uint64)
                writer.write(.signed(Int64(range.length)), as: .uint64)
            }
        case .edges:
            record(ArchiveError(.unsupportedType, "NSEdgeInsets has no form in archives without keys"))
        }
    }

    private func write(_ numbers: [CGFloat], as form: GeometryForm, identity: AnyObject?) {
        write(NSValue.self, identity: identity) {
            writer.write(type: UInt8(ascii: "*"))
            write(cString: Array(form.rawValue.utf8))
            encode(numbers, as: form)
        }
    }
}
