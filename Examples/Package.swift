// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

let cache = Target.Dependency.product(name: "TypedCache", package: "typed-cache")

let package = Package(
    name: "examples",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "typed-cache", path: "..")],
    targets: [
        // A struct with its own wrapper encoder, in a cache of one object and of many.
        .executableTarget(name: "coordinates", dependencies: [cache], swiftSettings: strict),

        // A class graph: saved as a subclass, fetched with a cast.
        .executableTarget(name: "animals", dependencies: [cache], swiftSettings: strict),

        // A Codable model in a cache that the command `typed-cache` filled.
        .executableTarget(name: "atlas", dependencies: [cache], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
