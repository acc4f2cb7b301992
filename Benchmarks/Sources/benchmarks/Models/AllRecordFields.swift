/// All of the fifty fields, decoded.
struct AllRecordFields: Decodable {
    let values: [RecordField]

    init(from decoder: any Decoder) throws {
        values = try CodableRecord.decode(RecordField.sample, from: decoder)
    }
}
