import Foundation

// NSRegularExpression:
//
//     NSPattern             the pattern
//     NSOptions             number
//
// NSSimpleRegularExpressionCheckingResult (1...3 ranges), NSExtendedRegularExpressionCheckingResult (4...7),
// NSComplexRegularExpressionCheckingResult:
//
//     NSRangeLocation       of the first range
//     NSRangeLength
//     NSRangeArray          all ranges: array of NSValue
//     NSRegularExpression   the expression

extension NSRegularExpression: ArchiveIntrinsic {
    /// The longest pattern, in bytes of UTF-8: compiling some takes as long as the square of that.
    fileprivate static let longestPattern = 16_384

    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        if pattern.utf8.count > Self.longestPattern {
            archiver.record(
                ArchiveError(.limitExceeded, "a pattern of more than \(Self.longestPattern) bytes")
            )
        }
        return archiver.form(NSRegularExpression.self, of: self) {
            archiver.encode(pattern, forKey: "NSPattern")
            archiver.encode(Int(bitPattern: options.rawValue), forKey: "NSOptions")
        }
    }
}

extension NSTextCheckingResult: ArchiveIntrinsic {
    func archive(into archiver: KeyedArchiver) -> ArchiveWriter.UID {
        guard resultType == .regularExpression, let expression = regularExpression else {
            archiver.record(
                ArchiveError(.unsupportedType, "only results of regular expressions can be archived")
            )
            return 0
        }
        return archiver.form(Swift.type(of: self), of: self) {
            archiver.encode(range.location, forKey: "NSRangeLocation")
            archiver.encode(range.length, forKey: "NSRangeLength")
            archiver.encode(expression, forKey: "NSRegularExpression")
            archiver.encode((0..<numberOfRanges).map { range(at: $0) }, forKey: "NSRangeArray")
        }
    }
}

extension FoundationForm {
    static let patterns = [
        FoundationForm("NSRegularExpression", expression),
        FoundationForm("NSTextCheckingResult", match),
        FoundationForm("NSRegularExpressionCheckingResult", match),
        FoundationForm("NSSimpleRegularExpressionCheckingResult", match),
        FoundationForm("NSExtendedRegularExpressionCheckingResult", match),
        FoundationForm("NSComplexRegularExpressionCheckingResult", match),
    ]

    // The time that a match takes is not limited here: that is up to the code that matches.
    private static func expression(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let pattern = try fields.required(String.self, "NSPattern")
        let number = try fields.integer("NSOptions") ?? 0
        guard (0...0x7F).contains(number) else { throw fields.malformed("with options that there are not") }
        guard pattern.utf8.count <= NSRegularExpression.longestPattern else {
            throw ArchiveError(.limitExceeded, "a pattern of more than \(NSRegularExpression.longestPattern) bytes")
        }
        // Each object is compiled, even if all share one text.
        try fields.unarchiver.budget.spend(bytes: 16 * pattern.utf8.count)
        do {
            return try NSRegularExpression(pattern: pattern, options: .init(rawValue: UInt(number)))
        } catch {
            throw fields.unknown("with a pattern that is not valid here", cause: error)
        }
    }

    private static func match(_ fields: inout FormFields) throws(ArchiveError) -> Any {
        let expression = try fields.required(NSRegularExpression.self, "NSRegularExpression")
        var ranges: [NSRange] = []
        for value in try fields.required([Any].self, "NSRangeArray") {
            guard let range = (value as? NSValue)?.archivedRange, range.location >= 0, range.length >= 0,
                range.length <= Int.max - range.location
            else { throw fields.malformed("with an invalid range") }
            ranges.append(range)
        }
        guard !ranges.isEmpty else { throw fields.malformed("without a range") }
        return NSTextCheckingResult.regularExpressionCheckingResult(
            ranges: &ranges,
            count: ranges.count,
            regularExpression: expression
        )
    }
}
