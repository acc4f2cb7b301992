import Foundation
import Synchronization
import TestSupport
import Testing

@testable import ArchiveStore

#if os(Linux)
    /// A packed store on a full volume can use the room of removed entries, by means of its reserve.
    @Suite(.enabled(if: SmallVolume.isPossible, "a small volume cannot be mounted here, which takes root"))
    struct PackedReserveTests {
        /// Saves an entry, and says how long it is.
        @discardableResult
        private func save(
            _ archive: [UInt8],
            _ key: String,
            in store: PackedStore,
            attempts: Int = 20
        ) throws(StoreError) -> Int {
            // Work in the background takes room while it lasts.
            defer { store.finishUpkeep() }
            let attributes = EntryAttributes(storedAt: .now)
            for _ in 1..<attempts {
                do throws(StoreError) {
                    return try store.save(archive, forKey: key, attributes: attributes, if: nil)?.storedByteCount
                        ?? 0
                } catch {
                    guard error.errorNumber == ENOSPC else { throw error }
                    // A process that another test has just forked has the files open that were removed.
                    usleep(5_000)
                }
            }
            return try store.save(archive, forKey: key, attributes: attributes, if: nil)?.storedByteCount ?? 0
        }

        /// Saves entries until one finds no room, and returns the length on disk and the archive of each.
        private func fill(
            _ store: PackedStore,
            _ lengths: ClosedRange<Int>,
            using random: inout SeededGenerator
        ) throws -> (sizes: [String: Int], archives: [String: [UInt8]]) {
            var sizes: [String: Int] = [:]
            var archives: [String: [UInt8]] = [:]
            while true {
                let key = "key \(sizes.count)"
                let archive = random.bytes(Int.random(in: lengths, using: &random))
                do throws(StoreError) {
                    sizes[key] = try save(archive, key, in: store, attempts: 1)
                    archives[key] = archive
                } catch {
                    #expect(error.errorNumber == ENOSPC)
                    return (sizes, archives)
                }
            }
        }

        private func reserveByteCount(_ path: String) -> Int {
            let attributes = try? FileManager.default.attributesOfItem(atPath: path + "/reserve")
            return (attributes?[.size] as? Int) ?? 0
        }

        /// None of these fills a block, so that no block becomes free where they are removed.
        @Test(arguments: seeds(0..<5))
        func whatWasRemovedGivesRoom(seed: Int) throws {
            try SmallVolume.mount("size=2m") { path, _ in
                var random = SeededGenerator(seed: seed)
                let store = try PackedStore(directory: path + "/cache", create: true, settings: StoreSettings())
                try removeAndSaveAgain(in: store, 100...3_000, removing: 100, &random)
            }
        }

        /// Where more must have become dead than one removal makes, for all of it to be rewritten.
        @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
        func whatWasRemovedGivesRoomInLargeStores() throws {
            try SmallVolume.mount("size=24m") { path, _ in
                var random = SeededGenerator(seed: 7)
                let store = try PackedStore(directory: path + "/cache", create: true, settings: StoreSettings())
                try removeAndSaveAgain(in: store, 3_000...12_000, removing: 600, &random)
            }
        }

        private func removeAndSaveAgain(
            in store: PackedStore,
            _ lengths: ClosedRange<Int>,
            removing count: Int,
            _ random: inout SeededGenerator
        ) throws {
            let (sizes, archives) = try fill(store, lengths, using: &random)
            var saved = archives
            // From everywhere but the first segment, all of which has to be moved first.
            let later = (sizes.count / 8..<sizes.count).shuffled(using: &random).map { "key \($0)" }
            for start in [0, count, 2 * count] {
                let removed = later[start..<start + count]
                // The rest is for the index, of which there are two while it is written in the background.
                let room = removed.reduce(0) { $0 + sizes[$1]! } * 5 / 8
                for key in removed {
                    #expect(try store.remove(forKey: key) == true)
                    saved[key] = nil
                }
                var used = 0
                for key in removed {
                    let archive = random.bytes(Int.random(in: lengths, using: &random))
                    guard used + archive.count < room else { continue }
                    do throws(StoreError) {
                        used += try save(archive, key, in: store)
                        saved[key] = archive
                    } catch {
                        #expect(error.errorNumber == ENOSPC)
                    }
                }
                #expect(used > room * 3 / 4)
            }
            // The entries that were moved are intact.
            for (key, archive) in saved { #expect(try store.fetch(forKey: key)?.archive == archive) }
        }

        /// Which entries of a full store are removed, in the order in which they were saved.
        enum Choice: CaseIterable {
            case head, middle, tail, scattered, most

            func keys(of count: Int) -> [String] {
                let few = count / 10
                let numbers: [Int] =
                    switch self {
                    case .head: Array(0..<few)
                    case .middle: Array(count / 2..<count / 2 + few)
                    case .tail: Array(count - few..<count)
                    case .scattered: (0..<few).map { $0 * 10 + 3 }
                    // More than the reserve has room to write down.
                    case .most: Array(count / 8..<count * 7 / 8)
                    }
                return numbers.map { "key \($0)" }
            }
        }

        /// The bytes of removed entries that need not become free: rewriting a segment for fewer does not pay, and the margin.
        private static let rest = 1 << 15 + 1 << 16
        /// By how much an entry is longer when it was moved: by its serial, in these small stores.
        private static let growth = 4

        /// Where none fills a block, all of them are in few segments, and nothing stays in memory from one save to the
        /// next.
        @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"), arguments: Choice.allCases)
        func removedEntriesGiveRoomWhereverTheyLie(choice: Choice) throws {
            try SmallVolume.mount("size=4m") { path, _ in
                let cache = path + "/cache"
                var random = SeededGenerator(seed: 11)
                var (sizes, archives) = try fill(open(cache), 100...600, using: &random)
                let reserve = reserveByteCount(cache)
                let removed = choice.keys(of: sizes.count)
                try remove(removed, at: cache)
                for key in removed { archives[key] = nil }

                let removedByteCount = removed.reduce(0) { $0 + sizes[$1]! }
                let room = removedByteCount - archives.count * Self.growth - Self.rest
                let (used, refusal) = try refill(room, at: cache, &archives, using: &random)
                // The reserve grows where so much is free that it was too short for the segments.
                let grown = reserveByteCount(cache) - reserve
                let step = room / 64
                #expect(used + grown + step >= room, "\(String(describing: refusal))")
                // The next time as well.
                #expect(grown >= 0)
                try check(archives, without: removed, at: cache)
            }
        }

        /// The index was written while there was room for it. Its own room is for entries, too.
        @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only")) func anIndexThatIsOfNoUseGivesRoom() throws
        {
            try SmallVolume.mount("size=4m") { path, _ in
                let cache = path + "/cache"
                var random = SeededGenerator(seed: 13)
                var archives: [String: [UInt8]] = [:]
                do {
                    let store = try open(cache)
                    for number in 0..<3_000 {
                        archives["early \(number)"] = random.bytes(300)
                        try save(archives["early \(number)"]!, "early \(number)", in: store)
                    }
                    try store.close()
                }
                let index = try readFile(cache + "/index").count
                let (sizes, others) = try fill(open(cache), 100...600, using: &random)
                archives.merge(others) { $1 }
                #expect(try readFile(cache + "/index").count == index)

                let removed = Choice.tail.keys(of: sizes.count)
                try remove(removed, at: cache)
                for key in removed { archives[key] = nil }
                let moved = archives.count * Self.growth
                let room = removed.reduce(0) { $0 + sizes[$1]! } + index - moved - Self.rest
                let (used, refusal) = try refill(room, at: cache, &archives, using: &random)
                #expect(used >= room, "\(String(describing: refusal))")
                #expect(!FileManager.default.fileExists(atPath: cache + "/index"))
                try check(archives, without: removed, at: cache)
            }
        }

        /// It has every segment open, and reads the index when it needs a part of it, so that all blocks of a file are
        /// free only when it closes that.
        @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only")) func anotherStoreKeepsLittleRoomFromSaves()
            throws
        {
            try SmallVolume.mount("size=4m") { path, _ in
                let cache = path + "/cache"
                var random = SeededGenerator(seed: 14)
                var (sizes, archives) = try fill(open(cache), 100...600, using: &random)
                let removed = Choice.tail.keys(of: sizes.count)
                let other = try open(cache)
                for key in sizes.keys { #expect(try other.fetch(forKey: key) != nil) }
                let names = try FileManager.default.contentsOfDirectory(atPath: cache)
                let segments = names.count { $0.hasSuffix("segment") }
                try remove(removed, at: cache)
                for key in removed { archives[key] = nil }

                // The first block and the last one of each.
                let kept = segments * 2 * Segment.blockByteCount
                let moved = archives.count * Self.growth
                let room = removed.reduce(0) { $0 + sizes[$1]! } - kept - moved - Self.rest
                let (used, refusal) = try refill(room, at: cache, &archives, using: &random)
                #expect(used >= room, "\(String(describing: refusal))")
                for (key, archive) in archives { #expect(try other.fetch(forKey: key)?.archive == archive) }
                for key in removed { #expect(try other.fetch(forKey: key) == nil) }
            }
        }

        /// Free room is for entries, where the index would take much of it.
        @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
        func noIndexIsWrittenWhereLittleIsFree() throws {
            try SmallVolume.mount("size=4m") { path, remount in
                let cache = path + "/cache"
                var random = SeededGenerator(seed: 15)
                let keys = try fill(open(cache), 100...600, using: &random).sizes.keys.shuffled(using: &random)
                // A tenth is more than the index takes.
                try remove(Array(keys.prefix(keys.count / 10)), at: cache)
                try open(cache).compact()
                try open(cache).close()
                #expect(!FileManager.default.fileExists(atPath: cache + "/index"))

                try remount("size=64m")
                try open(cache).close()
                #expect(FileManager.default.fileExists(atPath: cache + "/index"))
            }
        }

        /// Its entries stand elsewhere by then.
        @Test func aSegmentThatCannotBeRemovedCostsNoEntry() throws {
            try SmallVolume.mount("size=2m") { path, _ in
                let cache = path + "/cache"
                var random = SeededGenerator(seed: 16)
                let filled = try fill(open(cache), 100...600, using: &random)
                var archives = filled.archives
                let removed = Choice.scattered.keys(of: filled.sizes.count)
                try remove(removed, at: cache)
                for key in removed { archives[key] = nil }

                let layer = FileLayer { call in
                    call.operation == .remove && call.name.hasSuffix(".segment") ? .fail(EIO) : .proceed
                }
                let store = try open(cache, layer)
                let failure = #expect(throws: StoreError.self) { try store.compact() }
                #expect(failure?.errorNumber == EIO)
                try check(archives, without: removed, at: cache)
            }
        }

        /// Its entries were moved between its look at the index and the read, and it cannot take the directory's lock.
        @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
        func aReaderFollowsWhatWasMoved() throws {
            try SmallVolume.mount("size=2m") { path, _ in
                let cache = path + "/cache"
                var random = SeededGenerator(seed: 17)
                let (sizes, archives) = try fill(open(cache), 100...600, using: &random)
                try remove(Choice.middle.keys(of: sizes.count), at: cache)

                let isArmed = Atomic<Bool>(false)
                let failure = Mutex<StoreError?>(nil)
                let layer = FileLayer { call in
                    if call.operation == .lock { return .fail(EROFS) }
                    guard call.operation == .read, isArmed.exchange(false, ordering: .relaxed) else {
                        return .proceed
                    }
                    let result = Result { () throws(StoreError) in try self.open(cache).compact() }
                    if case .failure(let error) = result { failure.withLock { $0 = error } }
                    return .proceed
                }
                let reader = try open(cache, layer)
                #expect(try reader.fetch(forKey: "key 1")?.archive == archives["key 1"])
                isArmed.store(true, ordering: .relaxed)
                #expect(try reader.fetch(forKey: "key 2")?.archive == archives["key 2"])
                let isStillArmed = isArmed.load(ordering: .relaxed)
                #expect(!isStillArmed)
                let refusal = failure.withLock { $0 }
                #expect(refusal == nil)
            }
        }

        private func open(_ path: String, _ layer: FileLayer = FileLayer()) throws(StoreError) -> PackedStore {
            try PackedStore(directory: path, create: true, settings: StoreSettings(), layer: layer) {
                KeyDigest(hashing: $0)
            }
        }

        private func remove(_ keys: [String], at path: String) throws {
            let store = try open(path)
            defer { store.finishUpkeep() }
            for key in keys { #expect(try store.remove(forKey: key) == true) }
        }

        /// Saves entries of some thousand bytes, each by a store of its own, until so many bytes are used.
        private func refill(
            _ room: Int,
            at path: String,
            _ archives: inout [String: [UInt8]],
            using random: inout SeededGenerator
        ) throws -> (used: Int, refusal: StoreError?) {
            var used = 0
            while used < room {
                let archive = random.bytes(min(room - used, max(3_000, room / 64)))
                do throws(StoreError) {
                    let key = "new \(used)"
                    used += try save(archive, key, in: open(path))
                    archives[key] = archive
                } catch {
                    guard error.errorNumber == ENOSPC else { throw error }
                    return (used, error)
                }
            }
            return (used, nil)
        }

        private func check(_ archives: [String: [UInt8]], without removed: [String], at path: String) throws {
            let store = try open(path)
            for (key, archive) in archives { #expect(try store.fetch(forKey: key)?.archive == archive) }
            for key in removed { #expect(try store.fetch(forKey: key) == nil) }
        }

        private func byteCount(of store: PackedStore) throws -> Int {
            try store.current.space.byteCount()
        }

        /// There is no room to rewrite anything but in the reserve.
        @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"), arguments: Choice.allCases)
        func aFullStoreIsCompacted(choice: Choice) throws {
            try SmallVolume.mount("size=4m") { path, _ in
                let cache = path + "/cache"
                var random = SeededGenerator(seed: 12)
                var (sizes, archives) = try fill(open(cache), 100...600, using: &random)
                let removed = choice.keys(of: sizes.count)
                let before = try byteCount(of: open(cache))
                do {
                    // It may still have segments open while the next one compacts them.
                    let store = try open(cache)
                    for key in removed { try store.remove(forKey: key) }
                }
                for key in removed { archives[key] = nil }
                // Some of it was freed in the background.
                try open(cache).compact()
                let gained = try before - byteCount(of: open(cache))
                let grown = archives.count * Self.growth
                #expect(gained + grown > removed.reduce(0) { $0 + sizes[$1]! } * 9 / 10)
                try check(archives, without: removed, at: cache)
            }
        }

        /// A tenth of the removed bytes finds room, from any thread, and nothing is lost in the meantime.
        @Test func manySaveOnAFullVolume() throws {
            try SmallVolume.mount("size=3m") { path, _ in
                let store = try PackedStore(directory: path + "/cache", create: true, settings: StoreSettings())
                var random = SeededGenerator(seed: 3)
                let sizes = try fill(store, 500...3_000, using: &random).sizes
                for key in (0..<sizes.count / 2).map({ "key \($0 * 2)" }) { try store.remove(forKey: key) }
                let results = Mutex<[String: [UInt8]]>([:])
                let refusals = Atomic<Int>(0)
                DispatchQueue.concurrentPerform(iterations: 8) { thread in
                    var random = SeededGenerator(seed: 100 + thread)
                    // A tenth of the removed bytes, over all threads.
                    for number in 0..<sizes.count / 160 {
                        let archive = (0..<Int.random(in: 500...3_000, using: &random)).map { _ in
                            UInt8.random(in: 0...255, using: &random)
                        }
                        let key = "thread \(thread), \(number)"
                        do {
                            try self.save(archive, key, in: store)
                            results.withLock { $0[key] = archive }
                        } catch {
                            refusals.add(1, ordering: .relaxed)
                        }
                    }
                }
                // While a process is being forked elsewhere, removed entries still have their blocks.
                #expect(refusals.load(ordering: .relaxed) <= sizes.count / 160)
                let other = try PackedStore(directory: path + "/cache", create: true, settings: StoreSettings())
                for (key, archive) in results.withLock({ $0 }) {
                    #expect(try store.fetch(forKey: key)?.archive == archive)
                    #expect(try other.fetch(forKey: key)?.archive == archive)
                }
                for number in 0..<sizes.count / 2 {
                    #expect(try other.fetch(forKey: "key \(number * 2 + 1)") != nil)
                }
            }
        }

        @Test(.enabled(if: isLongRun, "it takes long: in .ci/run only"))
        func theReserveIsThereWhereLittleIsFree() throws {
            try SmallVolume.mount("size=4m") { path, remount in
                let store = try PackedStore(directory: path + "/cache", create: true, settings: StoreSettings())
                var random = SeededGenerator(seed: 1)
                for key in 0..<2_000 { try save(random.bytes(1_000), "key \(key)", in: store) }
                let longest =
                    try FileManager.default.contentsOfDirectory(atPath: path + "/cache")
                    .filter { $0.hasSuffix("segment") }
                    .map { try readFile(path + "/cache/" + $0).count }.max() ?? 0
                #expect(reserveByteCount(path + "/cache") > longest / 2)

                try remount("size=1g")
                for key in 0..<5_000 {
                    try save(random.bytes(1_000), "more \(key)", in: store)
                }
                #expect(reserveByteCount(path + "/cache") == 0)
            }
        }

        /// A store that may evict entries needs no reserve.
        @Test func aStoreWithLimitsHasNone() throws {
            try SmallVolume.mount("size=2m") { path, _ in
                var settings = StoreSettings()
                do {
                    let store = try PackedStore(directory: path + "/cache", create: true, settings: settings)
                    try save([1], "first", in: store)
                    #expect(reserveByteCount(path + "/cache") > 0)
                }
                settings.countLimit = 1_000_000
                let store = try PackedStore(directory: path + "/cache", create: true, settings: settings)
                var random = SeededGenerator(seed: 1)
                for key in 0..<3_000 {
                    let archive = random.bytes(1_000)
                    try save(archive, "key \(key)", in: store)
                    #expect(try store.fetch(forKey: "key \(key)")?.archive == archive)
                }
                #expect(reserveByteCount(path + "/cache") == 0)
            }
        }

        /// Something else that has its name: a directory, a file without blocks that seems to be endless, a link.
        @Test(arguments: isLongRun ? ["directory", "endless", "link", "short"] : ["endless", "link"])
        func itIsNotTrusted(kind: String) throws {
            try SmallVolume.mount("size=2m") { path, _ in
                let (cache, other) = (path + "/cache", path + "/other")
                let store = try PackedStore(directory: cache, create: true, settings: StoreSettings())
                try writeFile([1, 2, 3], other)
                switch kind {
                case "directory":
                    try FileManager.default.createDirectory(
                        atPath: cache + "/reserve/more",
                        withIntermediateDirectories: true
                    )
                case "endless":
                    try writeFile([], cache + "/reserve")
                    #expect(truncate(cache + "/reserve", off_t.max) == 0 || errno == EFBIG)
                case "short": try writeFile([1], cache + "/reserve")
                default: #expect(symlink(other, cache + "/reserve") == 0)
                }
                var random = SeededGenerator(seed: 2)
                let sizes = try fill(store, 500...3_000, using: &random).sizes
                let removed = (sizes.count / 2..<sizes.count).map { "key \($0)" }.shuffled(using: &random).prefix(
                    200
                )
                for key in removed { try store.remove(forKey: key) }
                // With a directory in its place there is no reserve.
                if kind != "directory" {
                    for key in removed.prefix(100) { try save(random.bytes(1_000), key, in: store) }
                }
                #expect(try readFile(other) == [1, 2, 3])
            }
        }
    }
#endif
