/// Which cache is meant.
package struct CacheSelection: Sendable, Equatable {
    package let name: String
    package let location: CacheLocation

    package init(name: String, location: CacheLocation) {
        self.name = name
        self.location = location
    }

    init(_ arguments: ParsedArguments) throws(ArgumentError) {
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
