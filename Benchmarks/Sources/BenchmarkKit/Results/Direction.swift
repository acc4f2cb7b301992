/// Which figures are the better ones.
package enum Direction: String, Codable, Sendable {
    case lower, higher
}
