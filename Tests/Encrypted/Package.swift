// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    // As the trait does in the package itself.
    .define("TLS"),
]

// The tests of connections with TLS, for Scripts/test: links to the folders that they need. With the trait, the package
// itself would build every other module and test once more.
let package = Package(
    name: "encrypted",
    platforms: [.macOS(.v15)],
    targets: [
        .systemLibrary(name: "COpenSSL"),
        .target(name: "RedisWire", dependencies: ["COpenSSL"], swiftSettings: strict),
        .target(name: "TestSupport", swiftSettings: strict),
        .target(name: "RedisServers", dependencies: ["RedisWire", "TestSupport"], swiftSettings: strict),
        .testTarget(
            name: "RedisWireTests",
            dependencies: ["RedisWire", "RedisServers", "TestSupport"],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
