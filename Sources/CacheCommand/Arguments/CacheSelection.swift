/// Which cache is meant.
package struct CacheSelection: Sendable, Equatable {
    package let name: String
    package let location: CacheLocation
    /// How its entries are kept; `nil`: as they are, or as those of new caches are.
    package let layout: CacheLayout?

    package init(name: String, location: CacheLocation, layout: CacheLayout? = nil) {
        self.name = name
        self.location = location
        self.layout = layout
    }

    /// The options that select it on a command line, to stand in messages.
    var commandText: String {
        let place =
            switch location {
            case .root(let path): " --root \(ShellText(path))"
            case .app(let name): " --app \(ShellText(name))"
            case .standard: ""
            }
        return "--cache \(ShellText(name))\(place)"
    }

    /// - Parameter hasLayout: whether the subcommand takes a layout, since it may make the cache.
    init(_ arguments: ParsedArguments, hasLayout: Bool = false) throws(ArgumentError) {
        layout = hasLayout ? try arguments.value(of: Options.layout) : nil
        name = try arguments.required(Options.cache)
        location =
            if let root = try arguments.value(of: Options.root) {
                .root(root)
            } else if let app = try arguments.value(of: Options.app) {
                .app(app)
            } else {
                .standard
            }
    }
}
