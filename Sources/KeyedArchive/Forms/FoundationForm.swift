import Foundation

/// How objects of one Foundation class are read from the form in which Apple's archiver stores them.
///
/// The files of this folder hold a family of classes each: above, the form, then how it is written, then how it
/// is read. Foundation's own coding methods are of no use here: they insist on Foundation's own archiver.
///
/// A form with wrong bytes is `.corrupted`. A sound form that the Foundation at hand does not know, such as a
/// calendar of another system, is `.decodingFailed`.
final class FoundationForm: Sendable {
    typealias Reading = @Sendable (inout FormFields) throws(ArchiveError) -> Any

    let className: String
    /// Whether its objects are collections: then their members must be of the classes that are expected too.
    let isCollection: Bool
    /// Whether its objects are decimal numbers.
    let isDecimal: Bool
    let read: Reading

    init(
        _ className: String,
        isCollection: Bool = false,
        isDecimal: Bool = false,
        _ read: @escaping Reading
    ) {
        self.className = className
        self.isCollection = isCollection
        self.isDecimal = isDecimal
        self.read = read
    }

    /// All forms by their classes' names. Made at the first use, without a look at any of the classes: the names of the
    /// units' classes alone would take 13 million instructions.
    static let named: [String: FoundationForm] = {
        let all =
            numbers + indexes + characterSets + attributedTexts + patterns + values + times + units + orderedSets
            + records + formatters
        return Dictionary(all.map { ($0.className, $0) }) { first, _ in first }
    }()
}
