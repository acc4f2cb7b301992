/// The directives of `Cache-Control` that concern a private cache (RFC 9111, section 5.2.2; RFC 5861).
///
/// Of `max-age` and the like the first one counts; one whose seconds cannot be read counts as zero. Directives for shared
/// caches are left out, and so is `immutable`: a fresh entry is requested only where the program wants that.
struct CacheControl: Hashable, Sendable {
    private(set) var isNoStore = false
    /// Also where the directive names fields: models have no fields of a header to leave out.
    private(set) var isNoCache = false
    private(set) var isMustRevalidate = false
    private(set) var isMustUnderstand = false
    /// Whether it says `public` or `private`: an answer of any status may be kept then.
    private(set) var allowsStoring = false
    /// Seconds; `nil`: not said.
    private(set) var maxAge: Int?
    private(set) var staleWhileRevalidate: Int?
    private(set) var staleIfError: Int?

    init(_ header: String) {
        for member in HeaderMembers(header) {
            let parts = member.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = parts[0].trimmed
            // A space before "=" is not allowed, and a value after it is not relied on.
            let argument = parts.count > 1 && name.endIndex == parts[0].endIndex ? parts[1] : ""
            add(name, argument)
        }
    }

    private mutating func add(_ name: Substring, _ argument: Substring) {
        if name.isCaseInsensitively("no-store") {
            isNoStore = true
        } else if name.isCaseInsensitively("no-cache") {
            isNoCache = true
        } else if name.isCaseInsensitively("must-revalidate") {
            isMustRevalidate = true
        } else if name.isCaseInsensitively("must-understand") {
            isMustUnderstand = true
        } else if name.isCaseInsensitively("public") || name.isCaseInsensitively("private") {
            allowsStoring = true
        } else if name.isCaseInsensitively("max-age") {
            maxAge = maxAge ?? Self.seconds(argument)
        } else if name.isCaseInsensitively("stale-while-revalidate") {
            staleWhileRevalidate = staleWhileRevalidate ?? Self.seconds(argument)
        } else if name.isCaseInsensitively("stale-if-error") {
            staleIfError = staleIfError ?? Self.seconds(argument)
        }
    }

    private static func seconds(_ argument: Substring) -> Int {
        let isQuoted = argument.utf8.count > 1 && argument.hasPrefix("\"") && argument.hasSuffix("\"")
        return (isQuoted ? argument.dropFirst().dropLast() : argument).deltaSeconds ?? 0
    }
}
