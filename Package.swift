// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

// A map of the package: from the bottom layer to the top; arrows point down only.
let package = Package(
    name: "typed-cache",
    platforms: [.macOS(.v15), .iOS(.v18), .tvOS(.v18), .watchOS(.v11), .visionOS(.v2)],
    products: [
        .library(name: "KeyedArchive", targets: ["KeyedArchive"]),
        .library(name: "TypedCache", targets: ["TypedCache"]),
        .executable(name: "typed-cache", targets: ["typed-cache"]),
    ],
    targets: [
        // zlib, the one system library.
        .systemLibrary(
            name: "CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["libz-dev"]), .brew(["zlib"])]
        ),

        // Where the current thread's stack ends.
        .target(name: "CStack"),

        // CRC-32, several times as fast as zlib's where the processor helps.
        .target(name: "CChecksum"),

        // The layout of Swift's objects, for references to objects that are still being decoded.
        .target(name: "CInstance"),

        // Calls for files that Swift does not see.
        .target(name: "CFiles"),

        // Keyed archives: archiver, unarchiver, binary property lists. Knows no cache.
        .target(name: "KeyedArchive", dependencies: ["CStack", "CInstance"], swiftSettings: strict),

        // What a full tier gives up. Knows neither keys nor values.
        .target(name: "Eviction", swiftSettings: strict),

        // Archives on disk under keys: compression, the entry format, one file per entry. Knows bytes, no values.
        .target(
            name: "ArchiveStore",
            dependencies: ["CZlib", "CChecksum", "CFiles", "Eviction"],
            swiftSettings: strict
        ),

        // `Cache<Value>`: the memory tier, both tiers together, expiration, errors.
        .target(
            name: "TypedCache",
            dependencies: ["KeyedArchive", "ArchiveStore", "Eviction"],
            swiftSettings: strict
        ),

        // The command's logic, apart from its entry point so that tests can call it.
        .target(
            name: "CacheCommand",
            dependencies: ["TypedCache", "KeyedArchive", "ArchiveStore"],
            swiftSettings: strict
        ),

        // The command.
        .executableTarget(name: "typed-cache", dependencies: ["CacheCommand"], swiftSettings: strict),

        // Models and readers to try archives with, shared with the fuzzers.
        .target(
            name: "ArchiveTrials",
            dependencies: ["KeyedArchive"],
            path: "Tests/ArchiveTrials",
            swiftSettings: strict
        ),

        // A store in memory to compare others with.
        .target(
            name: "StoreTrials",
            dependencies: ["ArchiveStore"],
            path: "Tests/StoreTrials",
            swiftSettings: strict
        ),

        // How many seeds a law is tried with.
        .target(name: "TestSeeds", path: "Tests/TestSeeds", swiftSettings: strict),

        .testTarget(
            name: "KeyedArchiveTests",
            dependencies: ["KeyedArchive", "ArchiveTrials"],
            swiftSettings: strict
        ),
        .testTarget(name: "EvictionTests", dependencies: ["Eviction", "TestSeeds"], swiftSettings: strict),
        .testTarget(
            name: "ArchiveStoreTests",
            dependencies: ["ArchiveStore", "StoreTrials", "TestSeeds"],
            swiftSettings: strict
        ),

        // Forks, as Swift cannot.
        .target(name: "CForking", path: "Tests/CForking"),

        // Works on a cache in a process of its own, and kills, crowds and starves such processes.
        .executableTarget(
            name: "CacheWorker",
            dependencies: ["TypedCache", "CForking"],
            path: "Tests/CacheWorker",
            swiftSettings: strict
        ),

        .testTarget(
            name: "TypedCacheTests",
            dependencies: ["TypedCache", "ArchiveStore", "StoreTrials", "TestSeeds", "CacheWorker"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CacheCommandTests",
            dependencies: ["CacheCommand", "TypedCache", "ArchiveStore", "typed-cache"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
