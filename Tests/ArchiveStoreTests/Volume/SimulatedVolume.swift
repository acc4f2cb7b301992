import Foundation
import TestSupport

@testable import ArchiveStore

/// A file system in memory, with all that a power failure would leave of it told apart from all that calls show.
///
/// Not safe for threads: only the thread that has the turn uses it (``VolumeStage``).
final class SimulatedVolume {
    static let blockByteCount = 4_096

    /// A file or a directory.
    struct Inode {
        let isDirectory: Bool
        /// The number that calls show, which another file gets once this one is gone.
        let number: UInt64
        var linkCount = 0
        var openCount = 0
        /// A file's bytes, as calls show them.
        var bytes: [UInt8] = []
        var blocks: Set<Int> = []
        var device = FileOnDevice()
        /// A directory's names.
        var names: [String: Int] = [:]
        /// The open files that have its lock, and whether one has it to itself.
        var lockOwners: Set<Int32> = []
        var isLockExclusive = false
    }

    /// An open file or directory, and the process that opened it.
    struct OpenInode {
        let inode: Int
        let process: Int
        var position = 0
        /// The names that are still to be listed; the last one is next.
        var rest: [String] = []
    }

    enum Outcome: Equatable {
        case done(Int)
        case failed(Int32)
        /// Another open file has the lock of this inode.
        case waits(for: Int)
    }

    /// Whether a directory's names reach the device in their order, as with a journal.
    let namesAreOrdered: Bool
    let capacity: Int
    var inodes: [Int: Inode] = [:]
    var opens: [Int32: OpenInode] = [:]
    private var lastInode = 0
    var lastDescriptor: Int32 = 1 << 24
    var usedBlockCount = 0
    var device = 64
    /// The names on the device, by directory, and the changes since.
    var deviceNames: [Int: [String: Int]] = [:]
    var nameChanges: [NameChange] = []
    /// An entry of a listing, at an address that does not change.
    let listed = UnsafeMutablePointer<dirent>.allocate(capacity: 1)

    static let root = 1

    /// - Parameter capacity: in blocks of 4 KiB.
    init(capacity: Int = 1 << 20, namesAreOrdered: Bool) {
        self.capacity = capacity
        self.namesAreOrdered = namesAreOrdered
        listed.initialize(to: dirent())
        _ = make(isDirectory: true)
        inodes[Self.root]?.linkCount = 1
    }

    /// A volume with the same files, which nothing has open.
    init(copying other: SimulatedVolume) {
        capacity = other.capacity
        namesAreOrdered = other.namesAreOrdered
        inodes = other.inodes
        lastInode = other.lastInode
        lastDescriptor = other.lastDescriptor
        usedBlockCount = other.usedBlockCount
        device = other.device
        deviceNames = other.deviceNames
        nameChanges = other.nameChanges
        opens = other.opens
        listed.initialize(to: dirent())
        for process in Set(opens.values.map(\.process)) { closeAll(of: process) }
    }

    deinit { listed.deallocate() }

    // MARK: Inodes

    func make(isDirectory: Bool) -> Int {
        lastInode += 1
        // The lowest number that no file has, as many file systems choose it.
        let taken = Set(inodes.values.map(\.number))
        var number: UInt64 = 2
        while taken.contains(number) { number += 1 }
        inodes[lastInode] = Inode(isDirectory: isDirectory, number: number)
        if isDirectory { deviceNames[lastInode] = [:] }
        return lastInode
    }

    private func dropIfUnused(_ id: Int) {
        guard let inode = inodes[id], inode.linkCount == 0, inode.openCount == 0 else { return }
        usedBlockCount -= inode.blocks.count
        inodes[id] = nil
        // The device may still have it under a name: its bytes are kept until no state of the device does.
        if deviceHas(id) { inodes[id] = inode }
    }

    private func deviceHas(_ id: Int) -> Bool {
        deviceNames.values.contains { $0.values.contains(id) } || nameChanges.contains { $0.inode == id }
    }

    /// Forgets the files that only the device still had.
    func dropForgotten() {
        for (id, inode) in inodes where inode.linkCount == 0 && inode.openCount == 0 && !deviceHas(id) {
            inodes[id] = nil
        }
    }

    var freeBlockCount: Int { max(0, capacity - usedBlockCount) }

    /// The inode at a path.
    func find(_ path: String) -> Int? {
        var id = Self.root
        for name in path.split(separator: "/") where name != "." {
            guard let next = inodes[id]?.names[String(name)] else { return nil }
            id = next
        }
        return id
    }

    func place(_ path: String) -> (directory: Int, name: String)? {
        let parts = path.split(separator: "/").filter { $0 != "." }
        guard let last = parts.last, let directory = find(parts.dropLast().joined(separator: "/")) else {
            return nil
        }
        return (directory, String(last))
    }

    /// The names in a directory, in an order that is no order.
    func names(at path: String) -> [String] {
        guard let id = find(path), let inode = inodes[id] else { return [] }
        return Self.listing(inode)
    }

    static func listing(_ inode: Inode) -> [String] {
        func hash(_ name: String) -> UInt64 {
            name.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        }
        return inode.names.keys.map { (hash($0), $0) }.sorted { $0 < $1 }.map(\.1)
    }

    func byteCount(at path: String) -> Int? { find(path).flatMap { inodes[$0]?.bytes.count } }

    func bytes(at path: String) -> [UInt8]? { find(path).flatMap { inodes[$0]?.bytes } }

    // MARK: Changes by hand

    /// Makes a directory, and those above it.
    func makeDirectories(_ path: String) {
        var id = Self.root
        for name in path.split(separator: "/").map(String.init) {
            if let next = inodes[id]?.names[name] {
                id = next
            } else {
                let new = make(isDirectory: true)
                setName(name, in: id, to: new)
                id = new
            }
        }
    }

    /// Removes a name, and all that is below it.
    func remove(_ name: String, in directory: Int) {
        guard let id = inodes[directory]?.names[name] else { return }
        for below in inodes[id]?.names.keys.sorted() ?? [] { remove(below, in: id) }
        setName(name, in: directory, to: nil)
    }

    /// Has the device get everything.
    func synchronizeAll() {
        for id in inodes.keys.sorted() { inodes[id]?.synchronize() }
        for change in nameChanges { change.apply(to: &deviceNames) }
        nameChanges = []
        dropForgotten()
    }

    /// Has a wait for a file fail: its pages count as written.
    func failWait(of id: Int) { inodes[id]?.abandon() }

    func setName(
        _ name: String,
        in directory: Int,
        to id: Int?,
        from source: (directory: Int, name: String)? = nil
    ) {
        let former = inodes[directory]?.names[name]
        nameChanges.append(NameChange(directory: directory, name: name, inode: id, source: source))
        inodes[directory]?.names[name] = id
        if let source { inodes[source.directory]?.names[source.name] = nil }
        if let id, source == nil { inodes[id]?.linkCount += 1 }
        if let former, former != id {
            inodes[former]?.linkCount -= 1
            dropIfUnused(former)
        }
    }

    // MARK: Processes

    /// Closes everything that a process has open, as its end does.
    func closeAll(of process: Int) {
        for descriptor in opens.filter({ $0.value.process == process }).keys.sorted() { close(descriptor) }
    }

    func openCount(of process: Int) -> Int { opens.values.count { $0.process == process } }

    /// The processes that have the lock of an inode.
    func lockOwners(of inode: Int) -> Set<Int> {
        Set((inodes[inode]?.lockOwners ?? []).compactMap { opens[$0]?.process })
    }

    func open(_ id: Int, _ process: Int) -> Outcome {
        lastDescriptor += 1
        opens[lastDescriptor] = OpenInode(inode: id, process: process)
        inodes[id]?.openCount += 1
        return .done(Int(lastDescriptor))
    }

    func close(_ descriptor: Int32) {
        guard let open = opens.removeValue(forKey: descriptor) else { return }
        inodes[open.inode]?.lockOwners.remove(descriptor)
        inodes[open.inode]?.openCount -= 1
        dropIfUnused(open.inode)
    }

    static func blocks(of range: Range<Int>) -> Range<Int> {
        range.isEmpty ? 0..<0 : range.lowerBound / blockByteCount..<(range.upperBound - 1) / blockByteCount + 1
    }

    // MARK: After a power failure

    /// Takes the state that a power failure has left: nothing is open, and all of it is on the device.
    func restart(files: [Int: [UInt8]], names: [Int: [String: Int]]) {
        opens = [:]
        device += 1
        deviceNames = [:]
        nameChanges = []
        var reached: [Int: Inode] = [:]
        var linkCounts: [Int: Int] = [Self.root: 1]
        var waiting = [Self.root]
        while let id = waiting.popLast() {
            guard let former = inodes[id], reached[id] == nil else { continue }
            var inode = Inode(isDirectory: former.isDirectory, number: former.number)
            if former.isDirectory {
                // A name of a file that never came to be is none.
                inode.names = (names[id] ?? [:]).filter { inodes[$0.value] != nil }
                deviceNames[id] = inode.names
                for below in inode.names.values {
                    linkCounts[below, default: 0] += 1
                    waiting.append(below)
                }
            } else {
                inode.bytes = files[id] ?? former.device.bytes
                inode.blocks = Set(Self.blocks(of: 0..<inode.bytes.count))
                inode.device.bytes = inode.bytes
            }
            reached[id] = inode
        }
        for (id, count) in linkCounts { reached[id]?.linkCount = count }
        inodes = reached
        usedBlockCount = inodes.values.reduce(0) { $0 + $1.blocks.count }
    }
}
