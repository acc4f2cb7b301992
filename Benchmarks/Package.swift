// swift-tools-version: 6.3
import Foundation
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    // The tests are built for release as well, so that the libraries need not be built for debugging.
    .unsafeFlags(["-enable-testing"], .when(configuration: .release)),
]

/// A peer that is measured only where its header is installed. SwiftPM caches the answer with this manifest: build with
/// `--manifest-cache none` after installing one.
struct OptionalPeer {
    let target: Target
    let dependency: Target.Dependency
    let setting: SwiftSetting

    init?(_ name: String, header: String, pkgConfig: String, package: String, define: String) {
        let folders = ["/usr/include", "/usr/local/include", "/opt/homebrew/include"]
        guard folders.contains(where: { FileManager.default.fileExists(atPath: "\($0)/\(header)") }) else {
            return nil
        }
        target = .systemLibrary(name: name, pkgConfig: pkgConfig, providers: [.apt([package])])
        dependency = .target(name: name)
        setting = .define(define)
    }
}

let optionalPeers = [
    OptionalPeer(
        "CSQLite",
        header: "sqlite3.h",
        pkgConfig: "sqlite3",
        package: "libsqlite3-dev",
        define: "SQLITE"
    ),
    OptionalPeer("CLMDB", header: "lmdb.h", pkgConfig: "lmdb", package: "liblmdb-dev", define: "LMDB"),
].compactMap(\.self)

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    traits: [.trait(name: "Encryption", description: "Stores are measured encrypted as well.")],
    dependencies: [
        .package(
            name: "typed-cache",
            path: "..",
            traits: [.trait(name: "Encryption", condition: .when(traits: ["Encryption"]))]
        )
    ],
    targets: [
        // Allocations, counted by functions that replace malloc and its like, and a function that the optimizer cannot
        // see into.
        .target(name: "CMeasuring"),

        // zlib as it is, to be measured beside the package's use of it, and to read traces.
        .systemLibrary(name: "CSystemZlib", pkgConfig: "zlib", providers: [.apt(["libz-dev"]), .brew(["zlib"])]),

        // Measuring, results, comparisons and reports. Knows no suite.
        .target(name: "BenchmarkKit", dependencies: ["CMeasuring"], swiftSettings: strict),

        // Requests for caches, generated and recorded; text; known eviction policies to compare with.
        .target(name: "Workloads", dependencies: ["CSystemZlib"], swiftSettings: strict),

        // The suites: the libraries' public API, beside other implementations of the same work.
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "BenchmarkKit",
                "CSystemZlib",
                "Workloads",
                .product(name: "KeyedArchive", package: "typed-cache"),
                .product(name: "PropertyLists", package: "typed-cache"),
                .product(name: "SharedCache", package: "typed-cache"),
                .product(name: "TypedCache", package: "typed-cache"),
                .product(name: "ModelCache", package: "typed-cache"),
                .product(name: "_StoreMeasuring", package: "typed-cache"),
            ] + optionalPeers.map(\.dependency),
            swiftSettings: strict + optionalPeers.map(\.setting)
        ),
        .testTarget(name: "BenchmarkKitTests", dependencies: ["BenchmarkKit"], swiftSettings: strict),
        .testTarget(
            name: "PeersTests",
            dependencies: ["benchmarks", "Workloads", .product(name: "_StoreMeasuring", package: "typed-cache")],
            swiftSettings: strict + optionalPeers.map(\.setting)
        ),
        .testTarget(name: "WorkloadsTests", dependencies: ["Workloads"], swiftSettings: strict),
    ] + optionalPeers.map(\.target),
    swiftLanguageModes: [.v6]
)
