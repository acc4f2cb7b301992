import ArchiveStore
import CForking
import Foundation
import TypedCache

/// Forks with an open cache, and checks the saves of both processes.
struct Forking {
    var directory: URL
    var disk: DiskSettings

    /// The finding of the child, sent as its exit status.
    private enum Finding: Int32 {
        case right = 0
        case saved, fetched, fetchedFromMemory, removed, removedAll, flushed, closed
        case removedTagged, removedExpired, extended, usedInMemoryAlone
        case ownCacheFails, ownCacheDisagrees, parentIsKeptFromSaving
    }

    /// So much later than the parent's, a child's clock has a fetch move an idle deadline.
    private struct LaterClock: CacheClock {
        var now: Date { .now.addingTimeInterval(3_600) }
    }

    /// Tells the other side how far this one is.
    private struct Steps {
        private let reading: Int32
        private let writing: Int32

        init() throws {
            var descriptors: [Int32] = [0, 0]
            guard pipe(&descriptors) == 0 else { throw TortureError("there is no pipe") }
            (reading, writing) = (descriptors[0], descriptors[1])
        }

        /// Closes the writing end, so that waiting ends once every writer has ended.
        func onlyWait() { close(writing) }

        func tell(times: Int = 1) {
            let bytes = [UInt8](repeating: 0, count: times)
            _ = write(writing, bytes, times)
        }

        /// - Returns: whether the other side has told within the time.
        func wait(seconds: Int32) -> Bool {
            var descriptor = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
            var byte: UInt8 = 0
            return poll(&descriptor, 1, seconds * 1_000) == 1 && read(reading, &byte, 1) == 1
        }
    }

    private static let count = 300

    private func open(clock: some CacheClock = SystemClock()) throws -> Cache<ProvenValue> {
        try Cache(name: "shared", directory: directory, settings: CacheSettings(disk: disk, clock: clock))
    }

    /// A cache of the same kind that gives entries up in the background.
    private func openLimited() throws -> Cache<ProvenValue> {
        var disk = disk
        disk.countLimit = 50
        return try Cache(name: "limited", directory: directory, settings: CacheSettings(disk: disk))
    }

    private func value(_ number: Int) -> ProvenValue {
        ProvenValue(key: "k", identity: ValueIdentity(writer: 1, number: number))
    }

    /// Waits until all other threads of the process have slept for a while.
    private func waitForOtherThreads() {
        usleep(100_000)
        #if os(Linux)
            // "S": asleep, neither running nor waiting for a processor or a disk (proc(5)).
            let tasks = "/proc/self/task"
            func isAsleep(_ thread: String) -> Bool {
                guard let status = FileManager.default.contents(atPath: "\(tasks)/\(thread)/stat"),
                    let nameEnd = status.lastIndex(of: UInt8(ascii: ")"))
                else { return true }
                return status.dropFirst(nameEnd - status.startIndex + 2).first == UInt8(ascii: "S")
            }
            let own = URL(filePath: "/proc/thread-self").resolvingSymlinksInPath().lastPathComponent
            var quietLooks = 0
            while quietLooks < 20 {
                let threads = (try? FileManager.default.contentsOfDirectory(atPath: tasks)) ?? []
                quietLooks = threads.allSatisfy { $0 == own || isAsleep($0) } ? quietLooks + 1 : 0
                usleep(5_000)
            }
        #endif
    }

    /// - Throws: if anything is not as it should be.
    func run() throws {
        let cache = try open()
        for number in 0..<100 { try cache.save(value(number), forKey: "before \(number)") }
        try cache.save(value(0), forKey: "idle", expiration: .afterIdle(.seconds(7_200)))
        try cache.flush()
        let alone = try Cache<ProvenValue>(name: "alone", settings: CacheSettings(disk: nil))
        try alone.save(value(0), forKey: "k")
        var locks: KeyLocks? = try KeyLocks(directory: directory.appending(path: "shared").path)
        guard try locks?.tryLock(KeyLocks.Offset(key: "k")) == true else { throw TortureError("k is locked") }
        let (done, parentSaved) = (try Steps(), try Steps())
        // A thread that has a lock of the system's libraries just then would never give it back in the child.
        waitForOtherThreads()
        var children: [Int32] = []
        for child in 0..<4 {
            let process = fork_process()
            if process == 0 {
                // A child that waits for ever ends by this.
                alarm(600)
                let finding = finding(ofChild: child, cache, alone)
                guard finding == .right else { _exit(finding.rawValue) }
                // It lives on, with its caches closed.
                done.tell()
                _exit((parentSaved.wait(seconds: 500) ? Finding.right : .parentIsKeptFromSaving).rawValue)
            }
            guard process > 0 else { throw TortureError("no process could be forked") }
            children.append(process)
        }
        for number in 0..<Self.count { try cache.save(value(number), forKey: "parent \(number)") }
        done.onlyWait()
        for _ in children { _ = done.wait(seconds: 600) }
        try cache.save(value(0), forKey: "parent 0")
        // The children have copies of the open lock files, but do not hold the locks.
        locks = nil
        let later = try KeyLocks(directory: directory.appending(path: "shared").path)
        guard try later.tryLock(KeyLocks.Offset(key: "k")) else { throw TortureError("k stays locked") }
        try cache.flush()
        parentSaved.tell(times: children.count)
        for child in children {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            guard status == 0 else {
                // Ended by a signal, it has found nothing.
                let finding = status & 0x7f == 0 ? Finding(rawValue: status >> 8).map { "\($0)" } : nil
                throw TortureError("the child: \(finding ?? "status \(status)")")
            }
        }
        try cache.flush()
        let reopened = try open()
        for cache in [cache, reopened] {
            for number in 0..<100 where try cache.fetch(forKey: "before \(number)") == nil {
                throw TortureError("before \(number) is missing")
            }
            for number in 0..<Self.count where try cache.fetch(forKey: "parent \(number)") == nil {
                throw TortureError("parent \(number) is missing")
            }
            for child in 0..<4 {
                for number in 0..<100 where try cache.fetch(forKey: "child \(child) \(number)") == nil {
                    throw TortureError("child \(child) \(number) is missing")
                }
            }
        }
        let count = try reopened.count()
        guard count == 100 + 1 + Self.count + 400 else { throw TortureError("there are \(count)") }
    }

    private func finding(
        ofChild number: Int,
        _ inherited: Cache<ProvenValue>,
        _ alone: Cache<ProvenValue>
    ) -> Finding {
        func isRefused(_ body: () throws -> Void) -> Bool {
            do {
                try body()
                return false
            } catch {
                return (error as? CacheError)?.code == .forked
            }
        }
        guard isRefused({ try inherited.save(value(0), forKey: "inherited \(number)") }) else { return .saved }
        guard isRefused({ _ = try inherited.fetch(forKey: "absent") }) else { return .fetched }
        guard isRefused({ _ = try inherited.fetch(forKey: "before 1") }) else { return .fetchedFromMemory }
        guard isRefused({ try inherited.remove(forKey: "before 1") }) else { return .removed }
        guard isRefused({ try inherited.removeAll() }) else { return .removedAll }
        guard isRefused({ try inherited.removeAll(tagged: "t") }) else { return .removedTagged }
        guard isRefused({ try inherited.removeExpired() }) else { return .removedExpired }
        for cache in [inherited, alone] {
            guard isRefused({ try cache.extend(forKey: "k", expiration: .never) }) else { return .extended }
        }
        for call in [
            { try alone.save(value(1), forKey: "k") }, { _ = try alone.fetch(forKey: "k") },
            { try alone.removeAll(tagged: "t") }, { try alone.removeExpired() }, { _ = try alone.count() },
        ] as [() throws -> Void] where !isRefused(call) { return .usedInMemoryAlone }
        guard isRefused({ try inherited.flush() }) else { return .flushed }
        guard isRefused({ try inherited.close() }) else { return .closed }
        do {
            let own = try open(clock: LaterClock())
            for other in 0..<100 { try own.save(value(number), forKey: "child \(number) \(other)") }
            try own.flush()
            var isThere = try own.fetch(forKey: "child \(number) 0") != nil && own.fetch(forKey: "before 1") != nil
            // Twice, from disk and from memory: each moves the deadline.
            for _ in 0..<2 where try own.fetch(forKey: "idle") == nil { isThere = false }
            try own.removeExpired()
            try own.flush()
            try own.close()
            let limited = try openLimited()
            for other in 0..<100 {
                try limited.save(
                    value(number),
                    forKey: "\(other)",
                    expiration: .after(.seconds(7_200)),
                    tags: ["t"]
                )
            }
            try limited.close()
            return isThere ? .right : .ownCacheDisagrees
        } catch {
            Terminal.tell("\(error)")
            return .ownCacheFails
        }
    }
}
