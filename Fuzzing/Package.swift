// swift-tools-version: 6.3
import PackageDescription

let strict: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

/// Each fuzzer's trial is in one file; `FuzzKit` has the rest.
func fuzzer(_ name: String) -> Target {
    .executableTarget(
        name: name,
        dependencies: ["FuzzKit", "ArchiveTrials", .product(name: "KeyedArchive", package: "typed-cache")],
        swiftSettings: strict
    )
}

func propertyListFuzzer(_ name: String) -> Target {
    .executableTarget(name: name, dependencies: ["FuzzKit", "PropertyListTrials"], swiftSettings: strict)
}

/// The judge of C code is C too, so that no bridge stands between the sanitizer and the code.
///
/// - Parameter name: has a link to the sources that it tries, which no product has.
func deflateFuzzer(_ name: String) -> Target {
    .executableTarget(
        name: name,
        cSettings: [.headerSearchPath("CDeflate/include"), .unsafeFlags(["-fsanitize=fuzzer-no-link,address"])],
        linkerSettings: [.linkedLibrary("z")]
    )
}

// Built by Scripts/fuzz only: the sanitizers' flags must be given for the archiver too, and only the command
// line reaches another package.
let package = Package(
    name: "fuzzing",
    platforms: [.macOS(.v15)],
    dependencies: [.package(name: "typed-cache", path: "..")],
    targets: [
        // The entry point of libFuzzer, which comes with the compiler.
        .target(name: "CFuzzer"),

        // Runs libFuzzer on a closure.
        .target(name: "FuzzKit", dependencies: ["CFuzzer"], swiftSettings: strict),

        // A link to the folder of the tests: models and readers are the same here and there.
        .target(
            name: "ArchiveTrials",
            dependencies: [.product(name: "KeyedArchive", package: "typed-cache")],
            swiftSettings: strict
        ),

        // A link to the sources, which no product has.
        .target(name: "RedisWireSources", swiftSettings: strict),
        .executableTarget(name: "fuzz-resp", dependencies: ["FuzzKit", "RedisWireSources"], swiftSettings: strict),
        .executableTarget(
            name: "fuzz-topology",
            dependencies: ["FuzzKit", "RedisWireSources"],
            swiftSettings: strict
        ),

        // A link to the decoder of JSON, which no product shows.
        .target(name: "ModelJSONSources", swiftSettings: strict),
        .executableTarget(name: "fuzz-json", dependencies: ["FuzzKit", "ModelJSONSources"], swiftSettings: strict),

        // The law of property lists.
        .target(
            name: "PropertyListTrials",
            dependencies: [.product(name: "PropertyLists", package: "typed-cache")],
            swiftSettings: strict
        ),
        propertyListFuzzer("fuzz-plist-binary"),
        propertyListFuzzer("fuzz-plist-xml"),
        propertyListFuzzer("fuzz-plist-text"),

        deflateFuzzer("fuzz-deflate"),
        deflateFuzzer("fuzz-inflate"),

        fuzzer("fuzz-binary"),
        fuzzer("fuzz-xml"),
        fuzzer("fuzz-unarchive"),
        fuzzer("fuzz-roundtrip"),
        fuzzer("fuzz-transfer"),

        // Archives without keys; it can write samples of them: fuzz-sequential --seeds FOLDER
        .executableTarget(
            name: "fuzz-sequential",
            dependencies: [
                "FuzzKit", .product(name: "KeyedArchive", package: "typed-cache"),
                .product(name: "SequentialArchive", package: "typed-cache"),
            ],
            swiftSettings: strict
        ),

        // Caches in changed directories.
        .executableTarget(
            name: "fuzz-store",
            dependencies: ["FuzzKit", .product(name: "TypedCache", package: "typed-cache")],
            swiftSettings: strict
        ),

        // Writes archives to begin with.
        .executableTarget(name: "fuzz-seeds", dependencies: ["ArchiveTrials"], swiftSettings: strict),
    ],
    swiftLanguageModes: [.v6]
)
