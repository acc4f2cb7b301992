import Foundation

@testable import ArchiveStore

extension SimulatedVolume {
    /// Answers a call of the system.
    func perform(_ call: FileLayer.Call, by process: Int, upTo most: Int = .max, failedWait: Bool = false)
        -> Outcome
    {
        switch call.system {
        case .open(let directory, let flags): return openName(call.name, in: directory, flags: flags, by: process)
        case .makeFile(let directory, _): return makeFile(call.name, in: directory, process)
        case .makeDirectory(let directory): return makeDirectory(call.name, in: directory)
        case .status(let file, let status):
            guard let id = opens[file]?.inode else { return .failed(EBADF) }
            return fill(status, id)
        case .statusOfName(let directory, let status):
            guard let id = look(up: call.name, in: directory) else { return .failed(ENOENT) }
            return fill(status, id)
        case .extent(let file, let linkCount, let byteCount):
            guard let id = opens[file]?.inode, let inode = inodes[id] else { return .failed(EBADF) }
            linkCount.pointee = UInt64(inode.linkCount)
            byteCount.pointee = Int64(inode.bytes.count)
            return .done(0)
        case .byteCount(let file):
            guard let id = opens[file]?.inode, let inode = inodes[id] else { return .failed(EBADF) }
            return .done(inode.bytes.count)
        case .freeSpace(_, let status):
            status.pointee.f_frsize = UInt(Self.blockByteCount)
            status.pointee.f_bsize = UInt(Self.blockByteCount)
            status.pointee.f_bavail = .init(freeBlockCount)
            status.pointee.f_blocks = .init(capacity)
            return .done(0)
        case .read(let file, let target, let offset): return read(file, into: target, at: offset, upTo: most)
        case .write(let file, let bytes, let offset): return write(file, bytes, at: offset, upTo: most)
        case .truncate(let file, let count): return change(file) { $0.truncate(to: count) }
        case .nextData(let file, let offset):
            guard let id = opens[file]?.inode, let inode = inodes[id] else { return .failed(EBADF) }
            return inode.nextData(from: offset).map(Outcome.done) ?? .failed(ENXIO)
        case .allocate(let file, let count): return allocate(file, 0..<count, keepsLength: false)
        case .allocateAhead(let file, let range): return allocate(file, range, keepsLength: true)
        case .synchronize(let file, _): return synchronize(file, fails: failedWait)
        case .lock(let file, let flags): return lock(file, flags)
        case .unlock(let file):
            guard let id = opens[file]?.inode else { return .failed(EBADF) }
            inodes[id]?.lockOwners.remove(file)
            return .done(0)
        case .lockByte: return .failed(EOPNOTSUPP)
        case .rename(let from, let to): return rename(call.name, in: from, to: call.newName ?? "", in: to)
        case .link(let from, let to):
            guard let source = opens[from]?.inode, let target = opens[to]?.inode, let name = call.newName,
                let id = inodes[source]?.names[call.name]
            else { return .failed(ENOENT) }
            if inodes[target]?.names[name] != nil { return .failed(EEXIST) }
            if inodes[target]?.linkCount == 0 { return .failed(ENOENT) }
            setName(name, in: target, to: id)
            return .done(0)
        case .remove(let directory, let flags): return remove(call.name, in: directory, flags)
        case .changeOwner: return .done(0)
        case .list(let file):
            guard let id = opens[file]?.inode, let inode = inodes[id] else { return .failed(EBADF) }
            opens[file]?.rest = (Self.listing(inode) + ["..", "."]).reversed()
            return .done(Int(file))
        case .nextName(let list): return nextName(Int32(truncatingIfNeeded: list))
        case .closeList(let list):
            close(Int32(truncatingIfNeeded: list))
            return .done(0)
        case .close(let file):
            guard opens[file] != nil else { return .failed(EBADF) }
            close(file)
            return .done(0)
        }
    }

    private func look(up name: String, in directory: Int32?) -> Int? {
        guard let directory else { return find(name) }
        guard let id = opens[directory]?.inode else { return nil }
        return name == "." ? id : inodes[id]?.names[name]
    }

    private func openName(_ name: String, in directory: Int32?, flags: Int32, by process: Int) -> Outcome {
        guard let id = look(up: name, in: directory), let inode = inodes[id] else { return .failed(ENOENT) }
        if flags & O_DIRECTORY != 0, !inode.isDirectory { return .failed(ENOTDIR) }
        if flags & O_ACCMODE != O_RDONLY, inode.isDirectory { return .failed(EISDIR) }
        return open(id, process)
    }

    private func makeFile(_ name: String, in directory: Int32, _ process: Int) -> Outcome {
        guard let parent = opens[directory]?.inode, let inode = inodes[parent] else { return .failed(EBADF) }
        if inode.names[name] != nil { return .failed(EEXIST) }
        if inode.linkCount == 0 { return .failed(ENOENT) }
        let id = make(isDirectory: false)
        setName(name, in: parent, to: id)
        return open(id, process)
    }

    private func makeDirectory(_ name: String, in directory: Int32?) -> Outcome {
        guard let (parent, name) = directory.map({ opens[$0].map { ($0.inode, name) } }) ?? place(name),
            let inode = inodes[parent]
        else { return .failed(ENOENT) }
        if inode.names[name] != nil { return .failed(EEXIST) }
        if inode.linkCount == 0 { return .failed(ENOENT) }
        setName(name, in: parent, to: make(isDirectory: true))
        return .done(0)
    }

    private func fill(_ status: UnsafeMutablePointer<stat>, _ id: Int) -> Outcome {
        guard let inode = inodes[id] else { return .failed(ENOENT) }
        status.pointee.st_dev = .init(device)
        status.pointee.st_ino = .init(inode.number)
        status.pointee.st_mode = inode.isDirectory ? S_IFDIR | 0o700 : S_IFREG | 0o600
        status.pointee.st_nlink = .init(inode.linkCount)
        status.pointee.st_size = .init(inode.bytes.count)
        status.pointee.st_blocks = .init(inode.blocks.count * Self.blockByteCount / 512)
        status.pointee.st_uid = geteuid()
        status.pointee.st_gid = getegid()
        return .done(0)
    }

    private func read(_ file: Int32, into target: UnsafeMutableRawBufferPointer, at offset: Int, upTo most: Int)
        -> Outcome
    {
        guard let id = opens[file]?.inode, let inode = inodes[id] else { return .failed(EBADF) }
        let count = max(0, min(target.count, most, inode.bytes.count - offset))
        if count > 0 {
            inode.bytes.withUnsafeBytes { bytes in
                target.copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + count]))
            }
        }
        return .done(count)
    }

    private func write(_ file: Int32, _ bytes: UnsafeRawBufferPointer, at offset: Int?, upTo most: Int) -> Outcome {
        guard let open = opens[file], let inode = inodes[open.inode] else { return .failed(EBADF) }
        let start = offset ?? open.position
        var count = min(bytes.count, max(1, most))
        // As much as there is room for.
        var free = freeBlockCount
        for block in SimulatedVolume.blocks(of: start..<start + count) where !inode.blocks.contains(block) {
            if free == 0 {
                count = max(0, block * Self.blockByteCount - start)
                break
            }
            free -= 1
        }
        if count <= 0 { return .failed(ENOSPC) }
        let outcome = change(file) { $0.write(UnsafeRawBufferPointer(rebasing: bytes[0..<count]), at: start) }
        guard case .done = outcome else { return outcome }
        if offset == nil { opens[file]?.position = start + count }
        return .done(count)
    }

    private func allocate(_ file: Int32, _ range: Range<Int>, keepsLength: Bool) -> Outcome {
        guard let id = opens[file]?.inode, let inode = inodes[id] else { return .failed(EBADF) }
        let missing = Self.blocks(of: range).count { !inode.blocks.contains($0) }
        if missing > freeBlockCount { return .failed(ENOSPC) }
        return change(file) { $0.allocate(range, keepsLength: keepsLength) }
    }

    private func change(_ file: Int32, _ body: (inout Inode) -> Void) -> Outcome {
        guard let id = opens[file]?.inode, let index = inodes.index(forKey: id) else { return .failed(EBADF) }
        let former = inodes.values[index].blocks.count
        body(&inodes.values[index])
        usedBlockCount += inodes.values[index].blocks.count - former
        return .done(0)
    }

    private func synchronize(_ file: Int32, fails: Bool) -> Outcome {
        guard let id = opens[file]?.inode, let inode = inodes[id] else { return .failed(EBADF) }
        if inode.isDirectory {
            // A failed wait leaves the names as they are: any of them may be there, and any may be lost.
            if fails { return .failed(EIO) }
            let isMeant: (NameChange) -> Bool = {
                self.namesAreOrdered || $0.directory == id || $0.source?.directory == id
            }
            for change in nameChanges where isMeant(change) { change.apply(to: &deviceNames) }
            nameChanges.removeAll(where: isMeant)
            dropForgotten()
        } else if fails {
            inodes[id]?.abandon()
            return .failed(EIO)
        } else {
            inodes[id]?.synchronize()
        }
        return .done(0)
    }

    private func lock(_ file: Int32, _ flags: Int32) -> Outcome {
        guard let id = opens[file]?.inode, let inode = inodes[id] else { return .failed(EBADF) }
        let isExclusive = flags & LOCK_EX != 0
        let others = inode.lockOwners.subtracting([file])
        if !others.isEmpty, isExclusive || inode.isLockExclusive {
            return flags & LOCK_NB != 0 ? .failed(EWOULDBLOCK) : .waits(for: id)
        }
        inodes[id]?.lockOwners.insert(file)
        inodes[id]?.isLockExclusive = isExclusive
        return .done(0)
    }

    private func rename(_ name: String, in from: Int32, to newName: String, in to: Int32) -> Outcome {
        let isDirectoryOnly = name.hasSuffix("/")
        let name = isDirectoryOnly ? String(name.dropLast()) : name
        guard let source = opens[from]?.inode, let target = opens[to]?.inode else { return .failed(EBADF) }
        guard let id = inodes[source]?.names[name], inodes[target]?.linkCount ?? 0 > 0 else {
            return .failed(ENOENT)
        }
        let isDirectory = inodes[id]?.isDirectory == true
        if isDirectoryOnly, !isDirectory { return .failed(ENOTDIR) }
        if let former = inodes[target]?.names[newName] {
            if former == id { return .done(0) }
            if inodes[former]?.isDirectory == true, !isDirectory { return .failed(EISDIR) }
        }
        setName(newName, in: target, to: id, from: (source, name))
        return .done(0)
    }

    private func remove(_ name: String, in directory: Int32, _ flags: Int32) -> Outcome {
        guard let parent = opens[directory]?.inode else { return .failed(EBADF) }
        guard let id = inodes[parent]?.names[name], let inode = inodes[id] else { return .failed(ENOENT) }
        if flags & Int32(AT_REMOVEDIR) != 0 {
            if !inode.isDirectory { return .failed(ENOTDIR) }
            if !inode.names.isEmpty { return .failed(ENOTEMPTY) }
        } else if inode.isDirectory {
            return .failed(EISDIR)
        }
        setName(name, in: parent, to: nil)
        return .done(0)
    }

    private func nextName(_ list: Int32) -> Outcome {
        guard let name = opens[list]?.rest.popLast() else { return opens[list] == nil ? .failed(EBADF) : .done(0) }
        withUnsafeMutableBytes(of: &listed.pointee.d_name) { field in
            for (place, byte) in (Array(name.utf8) + [0]).prefix(field.count).enumerated() { field[place] = byte }
        }
        return .done(Int(bitPattern: listed))
    }
}
