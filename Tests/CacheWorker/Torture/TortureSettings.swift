import Foundation
import TypedCache

/// How long and how hard.
struct TortureSettings {
    /// The executable of the workers.
    var executable: URL
    /// A folder for caches and logs.
    var scratch: URL
    /// How the caches keep entries.
    var layout = DiskSettings.Layout.automatic
    var seed: UInt64
    /// How long one part goes on.
    var duration: Duration
    /// The most kills of the part that kills.
    var kills = Int.max
    /// How many processes share a cache.
    var processCount = 8
    /// Whether to end early.
    var isInterrupted: @Sendable () -> Bool = { false }
    /// Is told how far it is.
    var progress: @Sendable (String) -> Void = { _ in }

    func folder(_ name: String) throws -> URL {
        let folder = scratch.appending(path: name, directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }
}
