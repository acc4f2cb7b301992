// swift-tools-version: 6.3
import PackageDescription

// Tries the statements of docs/compatibility.md about this package and Foundation; Scripts/compatibility runs it.
let package = Package(
    name: "compatibility",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "typed-cache", path: "../..")],
    targets: [
        .executableTarget(
            name: "compatibility",
            dependencies: [.product(name: "KeyedArchive", package: "typed-cache")],
            swiftSettings: [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")]
        )
    ],
    swiftLanguageModes: [.v6]
)
