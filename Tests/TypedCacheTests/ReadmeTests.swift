import Foundation
import TestSupport
import Testing

/// The programs in the README are built and run, and their output is compared with the README's.
@Suite struct ReadmeTests {
    @Test func theExampleBuildsAndPrintsWhatIsSaid() throws {
        let readme = try String(contentsOf: Self.package.appending(path: "README.md"), encoding: .utf8)
        let programs = Self.blocks("swift", in: readme)
        let program = try #require(programs.first)
        let expected = try #require(Self.blocks("text", in: readme).first, "what the program prints")

        let folder = TestDirectory.newPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let source = folder.appending(path: "main.swift")
        let executable = folder.appending(path: "example")
        try program.write(to: source, atomically: true, encoding: .utf8)

        let build = try Self.run(["swiftc", source.path, "-o", executable.path] + Self.compilerArguments(), folder)
        try #require(build.status == 0, "\(build.output)")
        // Twice: the second process finds the entries of the first.
        for _ in 0..<2 {
            let run = try Self.run([executable.path], folder)
            #expect(run.status == 0)
            #expect(run.output == expected)
        }
    }

    /// The first block is a program; all others are parts of one, which need not do anything here. One that imports a
    /// library is a file of its own.
    @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
    func theOtherPartsCompile() throws {
        let readme = try String(contentsOf: Self.package.appending(path: "README.md"), encoding: .utf8)
        let parts = Self.blocks("swift", in: readme).dropFirst()
        #expect(!parts.isEmpty)
        let folder = TestDirectory.newPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        for part in parts {
            let source = folder.appending(path: "part.swift")
            let text =
                part.hasPrefix("import ")
                ? part
                : """
                import TypedCache
                struct City: Codable, Encoded { var name: String }
                protocol API: Sendable { func city(_ number: Int) async throws -> City }
                func part(_ cities: Cache<City>, _ api: some API) async throws {
                \(part)
                }
                """
            try text.write(to: source, atomically: true, encoding: .utf8)
            // Nothing is linked.
            let search = try Self.compilerArguments().filter { !$0.hasSuffix(".o") }
            let check = try Self.run(["swiftc", "-typecheck", source.path] + search, folder)
            #expect(check.status == 0, "\(check.output)")
        }
    }

    private static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    /// Where the package was built for this test.
    static var products: URL {
        #if canImport(Darwin)
            Bundle(for: Marker.self).bundleURL.deletingLastPathComponent()
        #else
            Bundle.main.bundleURL
        #endif
    }

    private final class Marker {}

    /// The arguments to use the library just as it was built: a build of its own would take ten times as long.
    private static func compilerArguments() throws -> [String] {
        // The list, not the folders: those keep objects of files that are gone.
        let list = products.appending(path: "typed-cache.product/Objects.LinkFileList")
        let objects = try String(contentsOf: list, encoding: .utf8).split(separator: "\n").map {
            $0.trimmingCharacters(in: CharacterSet(charactersIn: "'\""))
        }
        let library = objects.filter { object in
            [
                "TypedCache", "ArchiveStore", "Eviction", "KeyedArchive", "PropertyLists", "CStack", "CInstance",
                "CChecksum",
                "CDeflate", "CFiles", "Sealing",
            ]
            .contains {
                object.contains("/\($0).build/")
            }
        }
        try #require(!library.isEmpty, "\(list.path) names no object of the library")
        return library + [
            "-I", products.appending(path: "Modules").path,
            "-I", package.appending(path: "Sources/CZlib").path,
            "-I", package.appending(path: "Sources/CStack/include").path,
            "-I", package.appending(path: "Sources/CInstance/include").path,
            "-I", package.appending(path: "Sources/CChecksum/include").path,
            "-I", package.appending(path: "Sources/CDeflate/include").path,
            "-I", package.appending(path: "Sources/CFiles/include").path,
            "-lz", "-swift-version", "6", "-warnings-as-errors",
        ] + argumentsOfTraits
    }

    private static var argumentsOfTraits: [String] {
        var arguments: [String] = []
        #if Libdeflate
            arguments += ["-I", package.appending(path: "Sources/CLibdeflate").path, "-ldeflate"]
        #endif
        #if Encryption
            arguments += ["-I", package.appending(path: "Sources/CCrypto").path, "-lcrypto"]
        #endif
        #if TLS
            arguments += ["-I", package.appending(path: "Sources/COpenSSL").path]
        #endif
        return arguments
    }

    /// The contents of the code blocks in a language.
    private static func blocks(_ language: String, in markdown: String) -> [String] {
        var blocks: [String] = []
        var lines: [Substring]?
        for line in markdown.split(separator: "\n", omittingEmptySubsequences: false) {
            if line == "```\(language)" {
                lines = []
            } else if line == "```", let block = lines {
                blocks.append(block.map { $0 + "\n" }.joined())
                lines = nil
            } else {
                lines?.append(line)
            }
        }
        return blocks
    }

    /// Runs a command with caches in `folder`, and returns its status and all that it printed.
    private static func run(_ command: [String], _ folder: URL) throws -> (status: Int32, output: String) {
        let process = Process()
        let pipe = Pipe.make()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = ["XDG_CACHE_HOME=\(folder.path)/caches", "SWIFT_BACKTRACE=enable=no"] + command
        process.standardOutput = pipe
        process.standardError = pipe
        try process.start()
        let output = String(decoding: pipe.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        return (process.terminationStatus, output)
    }
}
