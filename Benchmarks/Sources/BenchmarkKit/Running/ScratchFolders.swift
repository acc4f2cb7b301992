import Foundation

/// New folders for what suites write, removed at the end.
final class ScratchFolders {
    private let disk: URL
    private let memory: URL
    private var count = 0

    init() {
        let name = "benchmarks-\(UUID().uuidString)"
        disk = FileManager.default.temporaryDirectory.appending(path: name, directoryHint: .isDirectory)
        let shared = URL(filePath: "/dev/shm", directoryHint: .isDirectory)
        memory =
            FileManager.default.isWritableFile(atPath: shared.path)
            ? shared.appending(path: name, directoryHint: .isDirectory) : disk
    }

    func make(_ name: String, inMemory: Bool) throws -> URL {
        count += 1
        let folder = (inMemory ? memory : disk).appending(path: "\(count)-\(name)", directoryHint: .isDirectory)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        return folder
    }

    /// Removes what is there; what cannot be removed is left to the system's own cleaning.
    func removeAll() {
        for folder in [disk, memory] { try? FileManager.default.removeItem(at: folder) }
    }
}
