// swift-tools-version: 6.2
import PackageDescription

let strict: [SwiftSetting] = [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")]

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "typed-cache", path: "..")],
    targets: [
        // zlib, to read traces.
        .systemLibrary(
            name: "SystemZlib",
            pkgConfig: "zlib",
            providers: [.apt(["libz-dev"]), .brew(["zlib"])]
        ),

        // What caches are asked for: generated and recorded traces, text, and known policies to compare with.
        .target(name: "Workloads", dependencies: ["SystemZlib"], swiftSettings: strict),

        // Measures what the libraries make public, beside what Foundation has for the same work.
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                .product(name: "KeyedArchive", package: "typed-cache"),
                .product(name: "TypedCache", package: "typed-cache"),
            ],
            swiftSettings: strict
        ),

        .testTarget(name: "WorkloadsTests", dependencies: ["Workloads"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
