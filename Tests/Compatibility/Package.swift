// swift-tools-version: 6.3
import PackageDescription

// What docs/compatibility.md says of this package and of Foundation, tried out; Scripts/compatibility runs it.
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
