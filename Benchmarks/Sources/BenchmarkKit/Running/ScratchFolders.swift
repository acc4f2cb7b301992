import Dispatch
import Foundation

/// New folders for the files of suites, removed at the end.
final class ScratchFolders {
    private let disk: URL
    private let memory: URL
    private var count = 0
    private var signals: [any DispatchSourceSignal] = []

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

    /// Has the folders removed as well if the run is interrupted or told to end: they may be large.
    func removeOnInterruption() {
        let all = [disk, memory]
        for number in [SIGINT, SIGTERM] {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler {
                Self.remove(all)
                exit(128 + number)
            }
            source.resume()
            signals.append(source)
        }
    }

    /// Removes the folders; files that cannot be removed are left to the system's own cleaning.
    func removeAll() { Self.remove([disk, memory]) }

    private static func remove(_ folders: [URL]) {
        for folder in folders { try? FileManager.default.removeItem(at: folder) }
    }
}
