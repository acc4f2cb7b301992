import TypedCache

struct Repository: Codable, Encoded, Sendable {
    var number: Int
    var name: String
    var version: Int
}
