/// Fifty numbers, three of which are read again.
final class ThreeOfFiftyFields: FiftyFields {
    override class var keysToRead: [String] { someKeys }
}
