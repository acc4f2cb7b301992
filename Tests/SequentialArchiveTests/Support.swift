import Foundation
import TestSupport
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

/// The bits of an archive that are turned round one by one: all in a long run, else one of each byte.
func bits(of data: Data) -> [Int] {
    data.indices.flatMap { byte in
        variants(Array(0..<8), at: byte - data.startIndex).map { (byte - data.startIndex) * 8 + $0 }
    }
}

/// The suites with objects that encode by the closures of `Scripted`, one test at a time.
@Suite(.serialized) enum ScriptedTests {}
