import Foundation
import KeyedArchive

extension ModelCacheError {
    /// The most characters of a cause's own words, and of a place in an answer.
    private static let textLimit = 160

    /// A cause in some words: where and why an answer cannot be decoded, or the first line of the error's own description.
    /// Never values or bodies: an error without a description is told by its name.
    static func words(for cause: any Error) -> String {
        if let cause = cause as? DecodingError { return words(for: cause) }
        // Of a type's own decoding, whose error an archive's own words may repeat with the value.
        if let refusal = (cause as? ArchiveError)?.cause { return words(for: refusal) }
        if let own = (cause as? any LocalizedError)?.errorDescription { return line(own) }
        // The other descriptions of Foundation's errors contain URLs and user information.
        if cause is URLError || type(of: cause) is NSError.Type { return line(cause.localizedDescription) }
        // Of the type: each value can be cast, on Apple platforms as an NSError.
        if type(of: cause) is any CustomStringConvertible.Type { return line("\(cause)") }
        let mirror = Mirror(reflecting: cause)
        guard mirror.displayStyle == .enum else { return "\(type(of: cause))" }
        return "\(type(of: cause)).\(mirror.children.first?.label ?? "\(cause)")"
    }

    private static func words(for error: DecodingError) -> String {
        switch error {
        case .typeMismatch(let type, let context): return "no \(type)\(place(context))"
        case .valueNotFound(let type, let context): return "null for \(type)\(place(context))"
        case .keyNotFound(let key, let context): return "no member \(line(key.stringValue))\(place(context))"
        case .dataCorrupted(let context):
            return context.codingPath.isEmpty ? "no JSON, or unusable data" : "unusable data\(place(context))"
        @unknown default: return "\(type(of: error))"
        }
    }

    /// The place in an answer, `items[2].author`, from its end where it is long; empty for the whole answer.
    private static func place(_ context: DecodingError.Context) -> String {
        if context.codingPath.isEmpty { return "" }
        let path = context.codingPath.map { key in key.intValue.map { "[\($0)]" } ?? ".\(key.stringValue)" }
            .joined()
        let name = path.hasPrefix(".") ? String(path.dropFirst()) : path
        return " at " + (name.count > textLimit ? "…" : "") + name.suffix(textLimit)
    }

    /// The first line of a text, or its beginning.
    static func line(_ text: String) -> String {
        let line = text.prefix { !$0.isNewline }
        return line.prefix(textLimit) + (line.count > textLimit ? "…" : "")
    }
}
