import Foundation
import TestSupport

@testable import ArchiveStore

/// A change of a name that may not be on the device yet.
struct NameChange {
    let directory: Int
    let name: String
    /// The file that has the name from then on; `nil` if none has.
    let inode: Int?
    /// The name that the file had before, for a rename.
    let source: (directory: Int, name: String)?

    func apply(to names: inout [Int: [String: Int]]) {
        if let source, names[source.directory]?[source.name] == inode {
            names[source.directory]?[source.name] = nil
        }
        names[directory, default: [:]][name] = inode
    }
}

/// A file as the device has it, and the changes that it may have or not.
struct FileOnDevice {
    enum Change {
        case write([UInt8], at: Int)
        /// Cut, or made longer by zeros.
        case truncate(to: Int)
    }

    var bytes: [UInt8] = []
    var changes: [Change] = []
    /// The former bytes of blocks whose wait has failed: the system counts them as written.
    var doubtful: [Int: [UInt8]] = [:]
}

extension FileOnDevice.Change {
    func apply(to bytes: inout [UInt8]) {
        switch self {
        case .write(let new, let offset):
            if bytes.count < offset + new.count { bytes.resize(to: offset + new.count) }
            bytes.withUnsafeMutableBytes { target in
                new.withUnsafeBytes {
                    UnsafeMutableRawBufferPointer(rebasing: target[offset..<offset + new.count]).copyMemory(
                        from: $0
                    )
                }
            }
        case .truncate(let count): bytes.resize(to: count)
        }
    }

    /// The blocks that it changes, of a file that has so many bytes before.
    func blocks(before count: Int) -> Range<Int> {
        switch self {
        case .write(let new, let offset): SimulatedVolume.blocks(of: min(offset, count)..<offset + new.count)
        case .truncate(let other): SimulatedVolume.blocks(of: min(other, count)..<max(other, count))
        }
    }
}

extension [UInt8] {
    fileprivate mutating func resize(to count: Int) {
        if count < self.count {
            removeLast(self.count - count)
        } else {
            append(contentsOf: repeatElement(0, count: count - self.count))
        }
    }

    /// A block, as far as the bytes go.
    fileprivate func block(_ number: Int) -> [UInt8] {
        let start = number * SimulatedVolume.blockByteCount
        return start < count ? Array(self[start..<Swift.min(count, start + SimulatedVolume.blockByteCount)]) : []
    }
}

extension SimulatedVolume.Inode {
    mutating func write(_ new: UnsafeRawBufferPointer, at offset: Int) {
        note(.write(Array(new), at: offset))
        blocks.formUnion(SimulatedVolume.blocks(of: offset..<offset + new.count))
    }

    mutating func truncate(to count: Int) {
        note(.truncate(to: count))
        let end = SimulatedVolume.blocks(of: 0..<count).upperBound
        blocks = blocks.filter { $0 < end }
    }

    mutating func allocate(_ range: Range<Int>, keepsLength: Bool) {
        blocks.formUnion(SimulatedVolume.blocks(of: range))
        if !keepsLength, range.upperBound > bytes.count { note(.truncate(to: range.upperBound)) }
    }

    func nextData(from offset: Int) -> Int? {
        guard offset < bytes.count else { return nil }
        let size = SimulatedVolume.blockByteCount
        guard let block = blocks.filter({ $0 >= offset / size }).min() else { return nil }
        let found = max(offset, block * size)
        return found < bytes.count ? found : nil
    }

    private mutating func note(_ change: FileOnDevice.Change) {
        change.apply(to: &bytes)
        device.changes.append(change)
    }

    /// The blocks of changes that the device may lack.
    private var changedBlocks: Set<Int> {
        var count = device.bytes.count
        var changed: Set<Int> = []
        for change in device.changes {
            changed.formUnion(change.blocks(before: count))
            switch change {
            case .write(let new, let offset): count = max(count, offset + new.count)
            case .truncate(let other): count = other
            }
        }
        return changed
    }

    mutating func synchronize() {
        if isDirectory { return }
        for block in device.doubtful.isEmpty ? [] : changedBlocks { device.doubtful[block] = nil }
        device.bytes = bytes
        device.changes = []
    }

    /// A failed wait: the pages count as clean, and the device may have them or not.
    mutating func abandon() {
        for block in changedBlocks where device.doubtful[block] == nil {
            device.doubtful[block] = device.bytes.block(block)
        }
        device.bytes = bytes
        device.changes = []
    }
}

/// Makes states as a power failure leaves them.
struct PowerFailure {
    /// The order in which the device gets the changes of a file.
    enum Order: CaseIterable {
        /// All of them, but for the last one, which is torn.
        case last
        /// A part of them from the first one on.
        case prefix
        /// Any blocks, and any length that the file has had.
        case blocks
    }

    private var random: SeededGenerator
    let order: Order

    init(seed: Int, order: Order? = nil) {
        random = SeededGenerator(seed: seed)
        let any = Order.allCases.randomElement(using: &random) ?? .blocks
        self.order = order ?? any
    }

    private mutating func chance(_ share: Double) -> Bool { Double.random(in: 0..<1, using: &random) < share }

    /// Has the volume be as the device has it.
    mutating func strike(_ volume: SimulatedVolume) {
        var files: [Int: [UInt8]] = [:]
        for (id, inode) in volume.inodes.sorted(by: { $0.key < $1.key }) where !inode.isDirectory {
            files[id] = bytes(of: inode.device)
        }
        volume.restart(files: files, names: names(of: volume))
    }

    private mutating func names(of volume: SimulatedVolume) -> [Int: [String: Int]] {
        var names = volume.deviceNames
        let count = volume.nameChanges.count
        let all = order == .last || chance(0.3)
        let kept = all ? count : Int.random(in: 0...count, using: &random)
        let share = Double.random(in: 0...1, using: &random)
        for (place, change) in volume.nameChanges.enumerated() {
            let isThere = volume.namesAreOrdered || all ? place < kept : chance(share)
            if isThere { change.apply(to: &names) }
        }
        return names
    }

    private mutating func bytes(of file: FileOnDevice) -> [UInt8] {
        var bytes = file.bytes
        for (block, former) in file.doubtful.sorted(by: { $0.key < $1.key }) where chance(0.5) {
            let missing = max(0, bytes.block(block).count - former.count)
            put(former + [UInt8](repeating: 0, count: missing), in: block, of: &bytes)
        }
        switch order {
        case .last:
            for change in file.changes.dropLast() { change.apply(to: &bytes) }
            if let last = file.changes.last { tear(last, &bytes) }
        case .prefix:
            let kept = chance(0.4) ? file.changes.count : Int.random(in: 0...file.changes.count, using: &random)
            for change in file.changes.prefix(kept) { change.apply(to: &bytes) }
            if kept < file.changes.count { tear(file.changes[kept], &bytes) }
        case .blocks: scatter(file.changes, over: &bytes)
        }
        return bytes
    }

    /// A part of one change.
    private mutating func tear(_ change: FileOnDevice.Change, _ bytes: inout [UInt8]) {
        guard case .write(let new, let offset) = change else {
            if chance(0.5) { change.apply(to: &bytes) }
            return
        }
        let end = chance(0.5) ? new.count : Int.random(in: 0...new.count, using: &random)
        if end > 0 { FileOnDevice.Change.write(Array(new[..<end]), at: offset).apply(to: &bytes) }
    }

    /// Each block as it was after one of the changes, or as it was before; and the length likewise.
    private mutating func scatter(_ changes: [FileOnDevice.Change], over bytes: inout [UInt8]) {
        var versions: [Int: [[UInt8]]] = [:]
        var lengths = [bytes.count]
        var latest = bytes
        for change in changes {
            let blocks = change.blocks(before: latest.count)
            for block in blocks where versions[block] == nil { versions[block] = [bytes.block(block)] }
            change.apply(to: &latest)
            for block in blocks { versions[block]?.append(latest.block(block)) }
            if latest.count != lengths.last { lengths.append(latest.count) }
        }
        // Most failures lack a little, some nearly all.
        let shares: [Double] = [0, 0.05, 0.3, 1]
        let share = shares.randomElement(using: &random) ?? 0
        let length = chance(0.5) ? lengths[lengths.count - 1] : lengths.randomElement(using: &random) ?? bytes.count
        let filler = Filler.allCases.randomElement(using: &random) ?? .zeros
        let former = bytes.count
        for (block, versions) in versions.sorted(by: { $0.key < $1.key }) {
            var content = versions[versions.count - 1]
            if chance(share) {
                let isByHalves = chance(0.3)
                let older = versions.randomElement(using: &random) ?? content
                content = isByHalves ? mix(content, older) : older
            }
            let start = block * SimulatedVolume.blockByteCount
            let missing = min(length - start, SimulatedVolume.blockByteCount) - content.count
            // The device never had these bytes; those of the file's former length it had.
            if missing > 0, start + content.count >= former {
                content += filler == .zeros ? [UInt8](repeating: 0, count: missing) : random.bytes(missing)
            }
            put(content, in: block, of: &bytes)
        }
        FileOnDevice.Change.truncate(to: length).apply(to: &bytes)
    }

    private enum Filler: CaseIterable { case zeros, foreign }

    /// Sectors of 512 bytes of two versions of a block.
    private mutating func mix(_ new: [UInt8], _ old: [UInt8]) -> [UInt8] {
        var mixed = new
        for start in stride(from: 0, to: new.count, by: 512) where chance(0.5) {
            for place in start..<min(start + 512, new.count) { mixed[place] = place < old.count ? old[place] : 0 }
        }
        return mixed
    }

    private func put(_ content: [UInt8], in block: Int, of bytes: inout [UInt8]) {
        if content.isEmpty { return }
        FileOnDevice.Change.write(content, at: block * SimulatedVolume.blockByteCount).apply(to: &bytes)
    }
}
