/// Two fields, as a Codable value for the coders that take such.
struct Coordinate: Codable {
    let latitude: Double
    let longitude: Double
}
