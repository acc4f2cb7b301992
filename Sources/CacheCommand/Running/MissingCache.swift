/// A missing cache, and the caches that are in the directory.
struct MissingCache: Sendable, CustomStringConvertible {
    let selection: CacheSelection
    /// Where it was looked for.
    let directory: String
    /// The names of caches that are there, in order; of many, the first that were found.
    let others: [String]
    /// The name of an app that differs in case only, and has caches.
    let app: String?

    /// How many names are told.
    private static let mostNames = 10

    /// The fault and the remedy, in one sentence.
    var description: String {
        "no cache '\(SafeText(selection.name, limit: 200))' in \(SafeText(directory)); \(advice)"
    }

    private var advice: String {
        let name = selection.name.lowercased()
        if let alike = others.first(where: { $0.lowercased() == name }) {
            return "did you mean --cache \(ShellText(alike))?"
        }
        if let app { return "did you mean --app \(ShellText(app))?" }
        if !others.isEmpty {
            let names = others.prefix(Self.mostNames).map { "'\(SafeText($0, limit: 80))'" }
            let more = others.count > names.count ? ", …" : ""
            return "there are \(names.joined(separator: ", "))\(more)"
        }
        if case .standard = selection.location { return "say where it is with --root or --app" }
        return "there are no caches"
    }
}
