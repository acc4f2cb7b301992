import Foundation
import TypedCache

/// The options that select the cache of a subcommand.
struct CacheOptions: OptionGroup {
    @Option(required: .cacheName, parse: ArgumentText.nonEmpty("the name of a cache")) var name: String
    let location = LocationOptions()
    let keys = KeyOptions()

    var selection: CacheSelection {
        CacheSelection(name: name, location: location.location, keys: keys.place)
    }
}

/// The options that tell where the cache is.
struct LocationOptions: OptionGroup {
    static let isExclusive = true

    @Option(.root, parse: ArgumentText.nonEmpty("a directory")) var root: String?
    @Option(.app, parse: ArgumentText.nonEmpty("the name of an app")) var app: String?

    /// Whether one of them is given.
    var isGiven: Bool { root != nil || app != nil }

    var location: CacheLocation { Self.location(root: root, app: app) }

    /// Tells that caches of this machine are meant, where the environment names a server and no option a place.
    func reportIgnoredServer(on errors: any ErrorOutput) {
        guard !isGiven, PlaceOptions.urlOfVariable != nil else { return }
        errors.report("\(PlaceOptions.variable) names a server; these caches are on this machine")
    }

    /// The place that these values of the options stand for, or without them the environment.
    static func location(root: String?, app: String?) -> CacheLocation {
        if let root { return .root(root) }
        if let app { return .app(app) }
        let variables = ProcessInfo.processInfo.environment
        if let root = variables["TYPED_CACHE_ROOT"], !root.isEmpty { return .root(root) }
        if let app = variables["TYPED_CACHE_APP"], !app.isEmpty { return .app(app) }
        return .standard
    }
}

/// The option of subcommands that may make the cache.
struct LayoutOptions: OptionGroup {
    @Option(
        "layout",
        value: "LAYOUT",
        help: "How the cache keeps its entries: packed in a few files, or files, one for each",
        standard: "as it does already; packed for a new one",
        parse: ArgumentText.word(["packed": .packed, "files": .files])
    )
    var layout: DiskSettings.Layout?

    /// - Throws: `.otherLayout` if the cache is there and has another one.
    func check(_ selection: CacheSelection, in backend: any CacheBackend) throws(CommandFailure) {
        guard let layout, let present = backend.layout(of: selection), present != layout else { return }
        throw .otherLayout(selection, is: present)
    }

    /// The settings of a cache that may have to be made.
    func disk(byteLimit: SizeLimit? = nil) -> DiskSettings {
        DiskSettings(layout: layout ?? .automatic, byteLimit: byteLimit?.bytes)
    }
}

/// The cache that a command is about.
struct CacheSelection: Sendable, Equatable {
    let name: String
    let location: CacheLocation
    /// Where its keys are; `nil`: it is not encrypted.
    var keys: KeyPlace?

    /// The options that select it on a command line, to stand in messages.
    var commandText: String {
        let place =
            switch location {
            case .root(let path): " --root \(ShellText(path))"
            case .app(let name): " --app \(ShellText(name))"
            case .standard: ""
            case .shared(let place): " --shared \(ShellText(place.shownURL))"
            }
        return "--cache \(ShellText(name))\(place)"
    }
}

/// Where a cache is.
enum CacheLocation: Sendable, Equatable {
    /// In the directory that holds an app's caches.
    case root(String)
    /// Where an app of that name keeps its caches.
    case app(String)
    /// Where this command keeps its own.
    case standard
    /// On a server that machines share.
    case shared(SharedPlace)

    var isShared: Bool { if case .shared = self { true } else { false } }
}
