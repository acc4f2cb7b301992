/// All of the fifty numbers, decoded.
struct AllCodableFields: Decodable {
    let values: [Double]

    init(from decoder: any Decoder) throws {
        values = try CodableFields.values(of: FiftyFields.keys, in: decoder)
    }
}
