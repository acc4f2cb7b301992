// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

let cache = Target.Dependency.product(name: "TypedCache", package: "typed-cache")
let archive = Target.Dependency.product(name: "KeyedArchive", package: "typed-cache")
let testing = Target.Dependency.product(name: "TypedCacheTesting", package: "typed-cache")
let shared = Target.Dependency.product(name: "SharedCache", package: "typed-cache")
let models = Target.Dependency.product(name: "ModelCache", package: "typed-cache")
let http = Target.Dependency.product(name: "ModelCacheHTTP", package: "typed-cache")

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

        // A client of a service: one request however many ask, revalidation, old values while the service is down.
        .executableTarget(name: "registry", dependencies: [cache, testing], swiftSettings: strict),

        // Four processes that share a directory, and make each value once.
        .executableTarget(name: "workers", dependencies: [cache], swiftSettings: strict),

        // Five processes that share a cache on a server; `Scripts/demo shared` starts one.
        .executableTarget(name: "fleet", dependencies: [cache, shared], swiftSettings: strict),

        // Bytes that do not shrink, under a limit of the disk.
        .executableTarget(name: "pictures", dependencies: [cache], swiftSettings: strict),

        // Files of Foundation's archiver, read by classes that were renamed and changed, and saved to a cache.
        .executableTarget(name: "porting", dependencies: [cache, archive], swiftSettings: strict),

        // Two processes that send each other commands and graphs of objects; its animals are links to those of `animals`.
        .executableTarget(name: "relay", dependencies: [cache, archive], swiftSettings: strict),

        // A library that uses a cache, and its tests.
        .target(name: "Forecasts", dependencies: [cache], swiftSettings: strict),
        .testTarget(name: "ForecastsTests", dependencies: ["Forecasts", cache, testing], swiftSettings: strict),

        // Starts the servers of the next two, which are scripts in Python.
        .target(name: "PythonServer", swiftSettings: strict),

        // Articles of a server: shown while it is down, changed before it has agreed, gone when the user signs out.
        .executableTarget(
            name: "feed",
            dependencies: ["PythonServer", models, http, testing],
            exclude: ["server.py"],
            swiftSettings: strict
        ),

        // A client of a shop, and its server, which has the habits and faults that servers have: a program, and tests.
        .target(
            name: "ShopClient",
            dependencies: ["PythonServer", models, http, cache, testing],
            exclude: ["server.py"],
            swiftSettings: strict
        ),
        .executableTarget(name: "shop", dependencies: ["ShopClient"], swiftSettings: strict),
        .testTarget(name: "ShopTests", dependencies: ["ShopClient"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
