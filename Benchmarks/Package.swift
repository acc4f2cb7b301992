// swift-tools-version: 6.2
import PackageDescription

let package = Package(
    name: "benchmarks",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "typed-cache", path: "..")],
    targets: [
        // Measures what the libraries make public, beside what Foundation has for the same work.
        .executableTarget(
            name: "benchmarks",
            dependencies: [
                .product(name: "KeyedArchive", package: "typed-cache"),
                .product(name: "TypedCache", package: "typed-cache"),
            ],
            swiftSettings: [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")]
        )
    ],
    swiftLanguageModes: [.v6]
)
