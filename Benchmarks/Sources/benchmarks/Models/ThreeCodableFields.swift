/// Three of the fifty numbers, decoded.
struct ThreeCodableFields: Decodable {
    let values: [Double]

    init(from decoder: any Decoder) throws {
        values = try CodableFields.values(of: FiftyFields.someKeys, in: decoder)
    }
}
