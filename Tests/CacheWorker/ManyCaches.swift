import Foundation
import TypedCache

/// Uses more caches at once than the process may have descriptors for.
struct ManyCaches {
    var directory: URL
    var disk: DiskSettings
    var count = 1_000
    /// As `ulimit -n`; a program on macOS has 256 at first.
    var descriptorLimit: UInt64 = 256

    /// - Throws: if a call fails, or finds another value than the one that was saved.
    func run() throws {
        var limit = rlimit(rlim_cur: .init(descriptorLimit), rlim_max: .init(descriptorLimit))
        #if canImport(Glibc)
            let status = setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        #else
            let status = setrlimit(RLIMIT_NOFILE, &limit)
        #endif
        guard status == 0 else { throw TortureError("the limit of descriptors cannot be set") }
        let caches = try (0..<count).map { number in
            try Cache<ProvenValue>(
                name: "many \(number)",
                directory: directory,
                settings: CacheSettings(memory: .none, disk: disk)
            )
        }
        for round in 0..<2 {
            for (number, cache) in caches.enumerated() {
                try cache.save(value(number, round), forKey: "key \(round)")
            }
            for (number, cache) in caches.enumerated() {
                for former in 0...round {
                    let found = try cache.fetch(forKey: "key \(former)")
                    guard found?.identity == value(number, former).identity else {
                        let text = found.map { "\($0.identity)" } ?? "nothing"
                        throw TortureError("cache \(number) has \(text) for key \(former)")
                    }
                }
            }
        }
        for cache in caches { try cache.close() }
        Terminal.say("\(count) caches with \(descriptorLimit) descriptors: all values found")
    }

    private func value(_ cache: Int, _ round: Int) -> ProvenValue {
        ProvenValue(key: "key \(round)", identity: ValueIdentity(writer: cache, number: round))
    }
}
