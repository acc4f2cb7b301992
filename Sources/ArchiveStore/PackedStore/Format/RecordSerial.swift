/// A serial, as records have it: its upper and its lower 32 bits, each of variable length. The upper ones of a place are
/// a segment's number, the lower ones an offset, so both are small mostly.
enum RecordSerial {
    static func byteCount(of serial: UInt64) -> Int {
        let low = UInt32(truncatingIfNeeded: serial)
        return VariableLength.byteCount(of: serial >> 32) + VariableLength.byteCount(of: low)
    }

    static func write(_ serial: UInt64, to fields: inout FieldWriter) {
        fields.write(variableLength: Int(serial >> 32))
        fields.write(variableLength: Int(UInt32(truncatingIfNeeded: serial)))
    }
}
