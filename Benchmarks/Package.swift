// swift-tools-version: 6.3
import Foundation
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

/// A peer that is measured only where its header is. What was found is remembered with this file: build with
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
    dependencies: [.package(name: "typed-cache", path: "..")],
    targets: [
        // What measuring needs of C: allocations, counted by standing in for malloc and its like, and a black hole.
        .target(name: "CMeasuring"),

        // zlib as it is, to be measured beside the package's use of it, and to read traces.
        .systemLibrary(name: "CDeflate", pkgConfig: "zlib", providers: [.apt(["libz-dev"]), .brew(["zlib"])]),

        // Measuring, results and what is drawn from them. Knows no suite.
        .target(name: "BenchmarkKit", dependencies: ["CMeasuring"], swiftSettings: strict),

        // What caches are asked for: generated and recorded traces, text, and known policies to compare with.
        .target(name: "Workloads", dependencies: ["CDeflate"], swiftSettings: strict),

        // The suites: what the libraries make public, beside what else does the same work.
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                "BenchmarkKit",
                "CDeflate",
                "Workloads",
                .product(name: "KeyedArchive", package: "typed-cache"),
                .product(name: "TypedCache", package: "typed-cache"),
                .product(name: "ModelCache", package: "typed-cache"),
            ] + optionalPeers.map(\.dependency),
            swiftSettings: strict + optionalPeers.map(\.setting)
        ),
        .testTarget(name: "BenchmarkKitTests", dependencies: ["BenchmarkKit"], swiftSettings: strict),
        .testTarget(
            name: "PeersTests",
            dependencies: ["benchmarks", "Workloads"],
            swiftSettings: strict + optionalPeers.map(\.setting)
        ),
        .testTarget(name: "WorkloadsTests", dependencies: ["Workloads"], swiftSettings: strict),
    ] + optionalPeers.map(\.target),
    swiftLanguageModes: [.v6]
)
