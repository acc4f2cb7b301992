import CForking
import Foundation
import TypedCache

/// Forks with an open cache: what becomes of both processes' saves.
struct Forking {
    var directory: URL
    var disk: DiskSettings

    /// What the child found, as its exit status says.
    private enum Finding: Int32 {
        case right = 0
        case saved, fetched, fetchedFromMemory, removed, removedAll, flushed, closed
        case ownCacheFails, ownCacheDisagrees
    }

    private static let count = 300

    private func open() throws -> Cache<ProvenValue> {
        try Cache(name: "shared", directory: directory, disk: disk)
    }

    private func value(_ number: Int) -> ProvenValue {
        ProvenValue(key: "k", identity: ValueIdentity(writer: 1, number: number))
    }

    /// - Throws: if anything is not as it should be.
    func run() throws {
        let cache = try open()
        for number in 0..<100 { try cache.save(value(number), forKey: "before \(number)") }
        try cache.flush()
        // A thread that has a lock of the system's libraries just then would never give it back in the child.
        usleep(100_000)
        var children: [Int32] = []
        for child in 0..<4 {
            let process = fork_process()
            if process == 0 { _exit(finding(ofChild: child, cache).rawValue) }
            guard process > 0 else { throw TortureError("no process could be forked") }
            children.append(process)
        }
        for number in 0..<Self.count { try cache.save(value(number), forKey: "parent \(number)") }
        for child in children {
            var status: Int32 = 0
            while waitpid(child, &status, 0) < 0, errno == EINTR {}
            guard status == 0 else {
                let finding = Finding(rawValue: status >> 8).map { "\($0)" } ?? "status \(status)"
                throw TortureError("the child: \(finding)")
            }
        }
        try cache.flush()
        let later = try open()
        for cache in [cache, later] {
            for number in 0..<100 where try cache.fetch(forKey: "before \(number)") == nil {
                throw TortureError("before \(number) is missing")
            }
            for number in 0..<Self.count where try cache.fetch(forKey: "parent \(number)") == nil {
                throw TortureError("parent \(number) is missing")
            }
            for child in 0..<4 where try cache.fetch(forKey: "child \(child)") == nil {
                throw TortureError("child \(child) is missing")
            }
        }
        let count = try later.count()
        guard count == 100 + Self.count + 4 else { throw TortureError("there are \(count)") }
    }

    private func finding(ofChild number: Int, _ inherited: Cache<ProvenValue>) -> Finding {
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
        guard isRefused({ try inherited.flush() }) else { return .flushed }
        guard isRefused({ try inherited.close() }) else { return .closed }
        do {
            let own = try open()
            try own.save(value(number), forKey: "child \(number)")
            try own.flush()
            let isThere = try own.fetch(forKey: "child \(number)") != nil && own.fetch(forKey: "before 1") != nil
            return isThere ? .right : .ownCacheDisagrees
        } catch {
            Terminal.tell("\(error)")
            return .ownCacheFails
        }
    }
}
