import Foundation

/// The options that select the cache of a subcommand that works on servers, too.
struct SharedCacheOptions: OptionGroup {
    @Option(required: .cacheName, parse: ArgumentText.nonEmpty("the name of a cache")) var name: String
    let place = PlaceOptions()
    let keys = KeyOptions()
    @Option(
        "schema",
        value: "N",
        help: "With a server: the schema of the values, as the app gives it when it opens the cache",
        standard: "0",
        parse: { text throws(InvalidValue) in
            guard let number = UInt32(text) else { throw InvalidValue(text, expected: "a whole number below 2³²") }
            return number
        }
    )
    var schema: UInt32?

    /// - Throws: `.needsServer` for a schema of a cache that is on no server.
    func selection() throws(ArgumentError) -> CacheSelection {
        let location = PlaceOptions.location(
            root: place.root,
            app: place.app,
            shared: place.shared,
            schema: schema ?? 0
        )
        if schema != nil {
            guard case .shared = location else { throw ArgumentError(fact: .needsServer(option: "--schema")) }
        }
        return CacheSelection(name: name, location: location, keys: keys.place)
    }

    /// Refuses a server beside an option that is for this machine's disk.
    func refuseShared(beside option: String, _ subcommand: any Subcommand.Type) throws(ArgumentError) {
        guard case .shared = try selection().location else { return }
        throw subcommand.failure(.conflictingOptions(option, "--shared"))
    }
}

/// The options that tell where the cache is, on this machine or on a server.
struct PlaceOptions: OptionGroup {
    static let isExclusive = true
    /// Stands for `--shared`, so that a password need not stand in the list of processes.
    static let variable = "TYPED_CACHE_SHARED"

    @Option(.root, parse: ArgumentText.nonEmpty("a directory")) var root: String?
    @Option(.app, parse: ArgumentText.nonEmpty("the name of an app")) var app: String?
    @Option(
        "shared",
        value: "URL",
        help: "Redis or Valkey server that machines share, as in redis://10.0.0.1/?prefix=shop",
        standard: "that of TYPED_CACHE_SHARED, where a password is not seen by other users",
        parse: ArgumentText.nonEmpty("the URL of a server")
    )
    var shared: String?

    /// The place that these values of the options stand for, or without them the environment.
    static func location(root: String?, app: String?, shared: String?, schema: UInt32) -> CacheLocation {
        if let shared { return .shared(SharedPlace(url: shared, origin: "--shared", schema: schema)) }
        if root == nil, app == nil, let url = urlOfVariable {
            return .shared(SharedPlace(url: url, origin: variable, schema: schema))
        }
        return LocationOptions.location(root: root, app: app)
    }

    /// The variable's URL; `nil` if it is not set, or empty.
    static var urlOfVariable: String? {
        ProcessInfo.processInfo.environment[variable].flatMap { $0.isEmpty ? nil : $0 }
    }
}

/// A server that caches are on.
struct SharedPlace: Sendable, Equatable {
    /// May have a password in it: never shown.
    let url: String
    /// The option or variable that gives it.
    let origin: String
    let schema: UInt32

    /// The URL without user and password, for messages.
    var shownURL: String {
        guard let at = url.lastIndex(of: "@") else { return url }
        let scheme = url.prefix { $0 != ":" }
        return "\(scheme)://\(url[url.index(after: at)...])"
    }

    /// The URL with the timeouts of a tool: a person waits longer than a program, which can do without its cache.
    var urlForTool: String {
        let parts = url.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let query = parts.count == 2 ? parts[1] : ""
        let given = Set(query.split(separator: "&").map { $0.prefix { $0 != "=" } })
        var added: [String] = []
        if given.isDisjoint(with: ["timeout", "soft_timeout"]) { added.append("timeout=10s") }
        if !given.contains("connect_timeout") { added.append("connect_timeout=3s") }
        if !given.contains("client_name") { added.append("client_name=typed-cache") }
        if added.isEmpty { return url }
        let separator = parts.count == 1 ? "?" : query.isEmpty ? "" : "&"
        return url + separator + added.joined(separator: "&")
    }
}
