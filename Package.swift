// swift-tools-version: 6.3
import PackageDescription

let apple: [Platform] = [.macOS, .macCatalyst, .iOS, .tvOS, .visionOS]

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    // A later SDK may deprecate anything; that is no reason not to build.
    .treatWarning("DeprecatedDeclaration", as: .warning, .when(platforms: apple)),
    .enableUpcomingFeature("ExistentialAny"),
]

// The reasons for calls that Apple's App Store asks about. Elsewhere it would only make a folder beside each program.
#if os(macOS)
    let privacy: (resources: [Resource], exclude: [String]) = ([.copy("PrivacyInfo.xcprivacy")], [])
#else
    let privacy: (resources: [Resource], exclude: [String]) = ([], ["PrivacyInfo.xcprivacy"])
#endif

// A map of the package: from the bottom layer to the top; arrows point down only.
let package = Package(
    name: "typed-cache",
    // No watchOS: its builds include one with 32-bit integers, and offsets and limits here take 64.
    platforms: [.macOS(.v15), .macCatalyst(.v18), .iOS(.v18), .tvOS(.v18), .visionOS(.v2)],
    products: [
        .library(name: "PropertyLists", targets: ["PropertyLists"]),
        .library(name: "KeyedArchive", targets: ["KeyedArchive"]),
        .library(name: "SequentialArchive", targets: ["SequentialArchive"]),
        .library(name: "TypedCache", targets: ["TypedCache"]),
        .library(name: "SharedCache", targets: ["SharedCache"]),
        .library(name: "TypedCacheTesting", targets: ["TypedCacheTesting"]),
        .library(name: "ModelCache", targets: ["ModelCache"]),
        .library(name: "ModelCacheHTTP", targets: ["ModelCacheHTTP"]),
        .library(name: "ModelCacheTesting", targets: ["ModelCacheTesting"]),
        .executable(name: "typed-cache", targets: ["typed-cache"]),
        // For the package in Benchmarks alone: another package can only depend on a product.
        .library(name: "_StoreMeasuring", targets: ["StoreMeasuring"]),
    ],
    traits: [
        .trait(name: "TLS", description: "Encrypted connections to Redis and Valkey, by the system's OpenSSL."),
        .trait(
            name: "Libdeflate",
            description: "Entries of some KiB and more deflated and inflated by the system's libdeflate."
        ),
        .trait(
            name: "Encryption",
            description: "Encrypted caches where there is no CryptoKit, by the system's OpenSSL."
        ),
    ],
    targets: [
        // zlib, the one system library that every build needs. Not by pkg-config, which may name another package manager's header.
        .systemLibrary(name: "CZlib", providers: [.apt(["libz-dev"])]),

        // OpenSSL, for the trait TLS alone.
        .systemLibrary(name: "COpenSSL", providers: [.apt(["libssl-dev"])]),

        // OpenSSL's libcrypto, for the trait Encryption alone.
        .systemLibrary(name: "CCrypto", providers: [.apt(["libssl-dev"])]),

        // libdeflate, for the trait Libdeflate alone.
        .systemLibrary(name: "CLibdeflate", providers: [.apt(["libdeflate-dev"]), .brew(["libdeflate"])]),

        // Whether the current thread's stack ends soon.
        .target(name: "CStack"),

        // CRC-32, several times as fast as zlib's where the processor helps.
        .target(name: "CChecksum"),

        // DEFLATE for whole inputs: inflating, the fastest level, and small inputs with a dictionary that is indexed once.
        .target(name: "CDeflate"),

        // The layout of Swift's objects, for references to objects that are still being decoded.
        .target(name: "CInstance"),

        // Objective-C: coding that may raise exceptions, and objects that are referred to before they are
        // initialized. Empty where there is no Objective-C.
        .target(name: "CCoding"),

        // Calls for files that Swift does not see.
        .target(name: "CFiles"),

        // Property lists: binary, XML, OpenStep and GNUstep text; objects, trees and Codable values. Knows no archives.
        .target(name: "PropertyLists", dependencies: ["CStack"], swiftSettings: strict),

        // Keyed archives: archiver, unarchiver, binary property lists. Knows no cache.
        .target(
            name: "KeyedArchive",
            dependencies: [
                "PropertyLists", "CStack", "CInstance", "CChecksum",
                .target(name: "CCoding", condition: .when(platforms: apple)),
            ],
            swiftSettings: strict
        ),

        // Archives of `NSArchiver`: archiver, unarchiver, any such archive as a tree. Knows no cache.
        .target(
            name: "SequentialArchive",
            dependencies: ["KeyedArchive", .target(name: "CCoding", condition: .when(platforms: apple))],
            swiftSettings: strict
        ),

        // What a full tier gives up. Knows neither keys nor values.
        .target(name: "Eviction", swiftSettings: strict),

        // Ciphers and keys: AES-GCM, ChaCha20-Poly1305, HKDF, by CryptoKit or OpenSSL. Knows bytes, no files.
        .target(
            name: "Sealing",
            dependencies: [.target(name: "CCrypto", condition: .when(traits: ["Encryption"]))],
            swiftSettings: strict
        ),

        // Archives on disk under keys: compression, the packed store, the store of one file per entry. Knows bytes, no values.
        .target(
            name: "ArchiveStore",
            dependencies: [
                "CZlib", "CChecksum", "CDeflate", "CFiles", "Eviction", "Sealing",
                .target(name: "CLibdeflate", condition: .when(traits: ["Libdeflate"])),
            ],
            exclude: privacy.exclude,
            resources: privacy.resources,
            swiftSettings: strict
        ),

        // A client of Redis and Valkey: RESP3, pipelined connections, clusters. Knows no cache.
        .target(
            name: "RedisWire",
            dependencies: [.target(name: "COpenSSL", condition: .when(traits: ["TLS"]))],
            swiftSettings: strict
        ),

        // `Cache<Value>`: the memory tier, both tiers together, expiration, errors.
        .target(
            name: "TypedCache",
            dependencies: ["KeyedArchive", "ArchiveStore", "Eviction", "Sealing"],
            swiftSettings: strict
        ),

        // A tier that machines share: entries on a server, and memory that hears of changes there.
        .target(
            name: "SharedCache",
            dependencies: ["TypedCache", "ArchiveStore", "RedisWire"],
            swiftSettings: strict
        ),

        // For tests of code that uses a cache: a clock moved by hand, temporary caches, disks that fail, recorded events.
        .target(
            name: "TypedCacheTesting",
            dependencies: ["TypedCache", "ArchiveStore"],
            swiftSettings: strict
        ),

        // An app's models and lists between launches: identity, freshness, loading, observation, optimistic changes.
        .target(name: "ModelCache", dependencies: ["TypedCache", "KeyedArchive"], swiftSettings: strict),

        // Models over HTTP by URLSession; apart, because on Linux it brings libcurl.
        .target(name: "ModelCacheHTTP", dependencies: ["ModelCache", "TypedCache"], swiftSettings: strict),

        // For tests of code that keeps models: scripted servers, a way to wait for work in the background.
        .target(name: "ModelCacheTesting", dependencies: ["ModelCache"], swiftSettings: strict),

        // The command's logic, apart from its entry point so that tests can call it.
        .target(
            name: "CacheCommand",
            dependencies: [
                "TypedCache", "SharedCache", "KeyedArchive", "SequentialArchive", "ArchiveStore", "PropertyLists",
                "CFiles",
            ],
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

        // Random numbers by seeds, temporary folders and the like, for the tests of every module.
        .target(name: "TestSupport", path: "Tests/TestSupport", swiftSettings: strict),

        // Servers of Redis that tests start and end.
        .target(
            name: "RedisServers",
            dependencies: ["RedisWire", "TestSupport"],
            path: "Tests/RedisServers",
            swiftSettings: strict
        ),

        // The stores without values and compression, for benchmarks.
        .target(
            name: "StoreMeasuring",
            dependencies: ["ArchiveStore", "Sealing"],
            path: "Tests/StoreMeasuring",
            swiftSettings: strict
        ),

        // Each format and face against Foundation's and Python's.
        .testTarget(
            name: "PropertyListsTests",
            dependencies: ["PropertyLists", "TestSupport"],
            swiftSettings: strict
        ),

        .testTarget(
            name: "KeyedArchiveTests",
            dependencies: ["KeyedArchive", "ArchiveTrials", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SequentialArchiveTests",
            dependencies: ["SequentialArchive", "KeyedArchive", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(name: "EvictionTests", dependencies: ["Eviction", "TestSupport"], swiftSettings: strict),
        .testTarget(name: "SealingTests", dependencies: ["Sealing", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "RedisWireTests",
            dependencies: ["RedisWire", "RedisServers", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ArchiveStoreTests",
            dependencies: [
                "ArchiveStore", "CDeflate", "CZlib", "Sealing", "SharedCache", "RedisWire", "RedisServers",
                "StoreTrials", "TestSupport",
            ],
            swiftSettings: strict
        ),

        // Forks, as Swift cannot.
        .target(name: "CForking", path: "Tests/CForking"),

        // Works on a cache in a process of its own, and kills, crowds and starves such processes.
        .executableTarget(
            name: "CacheWorker",
            dependencies: [
                "TypedCache", "SharedCache", "ModelCache", "ArchiveStore", "CForking", "RedisServers",
                "TestSupport",
            ],
            path: "Tests/CacheWorker",
            swiftSettings: strict
        ),

        .testTarget(
            name: "TypedCacheTests",
            dependencies: [
                "TypedCache", "KeyedArchive", "ArchiveStore", "Eviction", "Sealing", "StoreTrials", "TestSupport",
                "CacheWorker",
            ],
            swiftSettings: strict
        ),
        // A machine of a fleet in a process of its own.
        .executableTarget(
            name: "SharedWorker",
            dependencies: ["SharedCache", "TypedCache", "CForking"],
            path: "Tests/SharedWorker",
            swiftSettings: strict
        ),
        .testTarget(
            name: "SharedCacheTests",
            dependencies: [
                "SharedCache", "TypedCache", "ArchiveStore", "RedisWire", "RedisServers", "TestSupport",
                "SharedWorker",
            ],
            swiftSettings: strict
        ),
        .testTarget(
            name: "TypedCacheTestingTests",
            dependencies: ["TypedCacheTesting", "TypedCache", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "ModelCacheTests",
            dependencies: [
                "ModelCache", "ModelCacheHTTP", "ModelCacheTesting", "TypedCacheTesting", "TypedCache",
                "KeyedArchive", "TestSupport",
            ],
            exclude: ["http-cases.json"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "CacheCommandTests",
            dependencies: [
                "CacheCommand", "TypedCache", "KeyedArchive", "SequentialArchive", "ArchiveStore", "ModelCache",
                "RedisWire", "RedisServers", "Sealing", "TestSupport", "typed-cache",
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)

// For the tests of CI, which take longer than a build: libraries as users have them, with all assertions. Not the command's,
// whose tests mostly wait.
if Context.environment["TYPED_CACHE_OPTIMIZED"] == "1" {
    for target in package.targets where target.type == .regular && target.name != "CacheCommand" {
        if target.swiftSettings == nil {
            target.cSettings = [.unsafeFlags(["-O2"])]
        } else {
            target.swiftSettings?.append(.unsafeFlags(["-O", "-assert-config", "Debug"]))
        }
    }
}
