/// Three of the fifty fields, decoded.
struct ThreeRecordFields: Decodable {
    let values: [RecordField]

    init(from decoder: any Decoder) throws {
        values = try CodableRecord.decode(RecordField.some, from: decoder)
    }
}
