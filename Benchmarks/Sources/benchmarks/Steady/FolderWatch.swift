import Foundation
import Synchronization

/// A thread that looks at the size of a store's folder and at its own delays while another thread works.
final class FolderWatch: Sendable {
    struct Seen: Sendable {
        /// The most bytes of segments, and of all files, by their lengths.
        var mostSegmentBytes = 0
        var mostBytes = 0
        /// The longest that this thread was late; other load on the machine is part of every other pause as well.
        var longestDelay = Duration.zero
    }

    private static let interval = Duration.milliseconds(5)

    private let path: String
    private let seen = Mutex(Seen())
    private let isDone = Atomic<Bool>(false)
    private let group = DispatchGroup()

    init(_ folder: URL) {
        path = folder.path
        group.enter()
        let thread = Thread { [self] in
            defer { group.leave() }
            let clock = ContinuousClock()
            while !isDone.load(ordering: .relaxed) {
                let start = clock.now
                Thread.sleep(forTimeInterval: Self.interval / .seconds(1))
                let delay = clock.now - start - Self.interval
                let (segments, all) = byteCounts()
                seen.withLock { seen in
                    seen.longestDelay = max(seen.longestDelay, delay)
                    seen.mostSegmentBytes = max(seen.mostSegmentBytes, segments)
                    seen.mostBytes = max(seen.mostBytes, all)
                }
            }
        }
        thread.start()
    }

    /// Stops the thread.
    ///
    /// - Returns: the sizes and delays that it saw.
    func end() -> Seen {
        isDone.store(true, ordering: .relaxed)
        group.wait()
        return seen.withLock { $0 }
    }

    /// Of the files in the folder itself; files that are removed in the meantime count nothing.
    private func byteCounts() -> (segments: Int, all: Int) {
        var counts = (segments: 0, all: 0)
        guard let directory = opendir(path) else { return counts }
        defer { closedir(directory) }
        while let entry = readdir(directory) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) {
                String(cString: UnsafeRawPointer($0).assumingMemoryBound(to: CChar.self))
            }
            var status = stat()
            guard fstatat(dirfd(directory), name, &status, AT_SYMLINK_NOFOLLOW) == 0,
                status.st_mode & S_IFMT == S_IFREG
            else { continue }
            counts.all += Int(status.st_size)
            if name.hasSuffix(".segment") { counts.segments += Int(status.st_size) }
        }
        return counts
    }
}
