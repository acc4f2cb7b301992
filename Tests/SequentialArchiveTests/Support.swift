import Foundation
import Testing

/// The archives of Apple's `NSArchiver` in the folder that `TYPED_CACHE_CORPUS` names.
enum Fixtures {
    static let folder = ProcessInfo.processInfo.environment["TYPED_CACHE_CORPUS"].map {
        URL(fileURLWithPath: $0).appending(path: "typedstream")
    }

    static func all() throws -> [(name: String, data: Data)] {
        try FileManager.default.contentsOfDirectory(at: #require(folder), includingPropertiesForKeys: nil)
            .sorted { $0.path < $1.path }
            .map { ($0.lastPathComponent, try Data(contentsOf: $0)) }
    }

    static func data(_ name: String) throws -> Data {
        try Data(contentsOf: #require(folder).appending(path: "crabstep__\(name)"))
    }
}

/// The suites whose objects encode by the closures of `Scripted`, one test at a time.
@Suite(.serialized) enum ScriptedTests {}
