import Foundation

/// When an entry was stored, as records have it: in steps of 1/256 of a second.
///
///      5  steps              UInt40, since 2001-01-01 00:00:00 UTC; at most FE FF FF FF FF
///
/// or, for any other time
///
///      1  –                  FF
///      8  seconds            Float64, since then; not a NaN
enum RecordTime {
    static let usualByteCount = 5
    static let exactByteCount = 9
    private static let stepsPerSecond = 256.0
    private static let exactMark: UInt8 = 0xFF

    /// The time as a new record has it: rounded down, if its kind has steps.
    static func rounded(_ date: Date) -> Date {
        let steps = (date.timeIntervalSinceReferenceDate * stepsPerSecond).rounded(.down)
        let seconds = steps / stepsPerSecond
        return self.steps(of: seconds) == nil ? date : Date(timeIntervalSinceReferenceDate: seconds)
    }

    private static func steps(of seconds: Double) -> UInt64? {
        guard let steps = UInt64(exactly: seconds * stepsPerSecond) else { return nil }
        return steps >> 32 < UInt64(exactMark) ? steps : nil
    }

    static func byteCount(of seconds: Double) -> Int {
        steps(of: seconds) == nil ? exactByteCount : usualByteCount
    }

    static func write(_ seconds: Double, to fields: inout FieldWriter) {
        guard let steps = steps(of: seconds) else {
            fields.write(exactMark)
            fields.write(seconds.bitPattern)
            return
        }
        fields.write(UInt8(steps >> 32))
        fields.write(UInt32(truncatingIfNeeded: steps))
    }

    /// Takes a time; `nil` if the bytes end before it does.
    static func next<Bytes>(_ fields: inout ByteReader<Bytes>) -> Double? {
        guard let high = fields.next(UInt8.self) else { return nil }
        if high == exactMark { return fields.next(UInt64.self).map(Double.init(bitPattern:)) }
        return fields.next(UInt32.self).map { Double(UInt64(high) << 32 | UInt64($0)) / stepsPerSecond }
    }
}
