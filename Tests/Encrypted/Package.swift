// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    // As the trait does in the package itself.
    .define("TLS"),
]

// The tests of connections with TLS, and of tiers on them, for Scripts/test: links to the folders that they need. With
// the trait, the package itself would build every other module and test once more.
let package = Package(
    name: "encrypted",
    platforms: [.macOS(.v15)],
    targets: [
        .systemLibrary(name: "COpenSSL"),
        .target(name: "RedisWire", dependencies: ["COpenSSL"], swiftSettings: strict),
        .systemLibrary(name: "CZlib"),
        .target(name: "CStack"),
        .target(name: "CChecksum"),
        .target(name: "CDeflate"),
        .target(name: "CInstance"),
        .target(name: "CFiles"),
        .target(
            name: "KeyedArchive",
            dependencies: ["CStack", "CInstance", "CChecksum"],
            swiftSettings: strict
        ),
        .target(name: "Eviction", swiftSettings: strict),
        .target(
            name: "ArchiveStore",
            dependencies: ["Eviction", "CZlib", "CChecksum", "CDeflate", "CFiles"],
            swiftSettings: strict
        ),
        .target(
            name: "TypedCache",
            dependencies: ["KeyedArchive", "ArchiveStore", "Eviction"],
            swiftSettings: strict
        ),
        .target(
            name: "SharedCache",
            dependencies: ["TypedCache", "ArchiveStore", "RedisWire"],
            swiftSettings: strict
        ),
        .target(name: "TestSupport", swiftSettings: strict),
        .target(name: "RedisServers", dependencies: ["RedisWire", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "RedisWireTests",
            dependencies: ["RedisWire", "RedisServers", "TestSupport"],
            swiftSettings: strict
        ),
        .testTarget(
            name: "SharedCacheTests",
            dependencies: [
                "SharedCache", "TypedCache", "ArchiveStore", "RedisWire", "RedisServers", "TestSupport",
            ],
            sources: ["EncryptedTierTests.swift", "Support/ClusterFleet.swift", "Support/Fleet.swift"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
