// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
    // As the trait does in the package itself.
    .define("Libdeflate"),
]

// The tests of streams that libdeflate makes and reads, for Scripts/test: links to the folders that they need. With the
// trait, the package itself would build every other module and test once more.
let package = Package(
    name: "libdeflate",
    platforms: [.macOS(.v15)],
    targets: [
        .systemLibrary(name: "CZlib"),
        .systemLibrary(name: "CLibdeflate"),
        .target(name: "CChecksum"),
        .target(name: "CDeflate"),
        .target(name: "CFiles"),
        .target(name: "Eviction", swiftSettings: strict),
        .target(
            name: "ArchiveStore",
            dependencies: ["CZlib", "CLibdeflate", "CChecksum", "CDeflate", "CFiles", "Eviction"],
            swiftSettings: strict
        ),
        .target(name: "TestSupport", swiftSettings: strict),
        .testTarget(
            name: "ArchiveStoreTests",
            dependencies: ["ArchiveStore", "CZlib", "CDeflate", "TestSupport"],
            sources: [
                "AlikeArchives.swift", "CompressionTests.swift", "MixedArchives.swift",
                "PresetDictionaryTests.swift", "SeededGenerator+Entries.swift", "ZlibTests.swift",
            ],
            swiftSettings: strict
        ),
    ],
    swiftLanguageModes: [.v6]
)
