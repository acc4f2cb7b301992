#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// The index on disk, which makes it quick to open the log. Everything in it follows from the segments.
extension PackedLog {
    /// Writes a snapshot if so many records came since the last one that reading them again would take long.
    func writeSnapshotIfDue() throws(StoreError) {
        let records = try looking { $0.recordsSinceSnapshot }
        if records > max(Self.fewRecords, index.total.count / 2) { try writeSnapshot() }
    }

    private static var fewRecords: Int { 1 << 14 }

    /// Writes a snapshot of the index if the volume has room for it.
    func writeSnapshot() throws(StoreError) {
        guard try hasRoomForSnapshot() else { return }
        let position = try looking { writer -> IndexSnapshot.Position? in
            // Nothing may be appended behind a seal, but a process that began at this position would do so.
            guard let tail = tail.withLock({ $0 }), !writer.isSealed else { return nil }
            writer.recordsSinceSnapshot = 0
            let place = RecordPlace(segment: tail.segment.number, offset: UInt32(tail.end))
            return .init(place: place, serial: writer.serial, previous: writer.previous)
        }
        guard let position else { return }
        let session = try folder.session()
        let draft = try session.write(synchronized: settings.durability == .power) { file throws(SystemError) in
            try IndexSnapshot.write(index, position, dictionaries: segments.dictionaries, to: file)
        }
        do throws(SystemError) {
            // Parts that could not be loaded seemed to be empty.
            if shared.isIncomplete.load(ordering: .relaxed) { throw SystemError(number: ESTALE) }
            try session.directory.rename(draft.name, to: IndexSnapshot.fileName, in: root)
        } catch {
            session.discard(draft.name)
            throw StoreError(error, path: path + "/" + IndexSnapshot.fileName, action: "writing the index")
        }
    }

    /// Whether the index is a small part of the free room. Otherwise entries need that room more: they are worth more
    /// than the time that it takes to open the log without a snapshot.
    private func hasRoomForSnapshot() throws(StoreError) -> Bool {
        let former: FileStatus?
        do {
            former = try root.status(IndexSnapshot.fileName)
        } catch {
            throw StoreError(error, path: path + "/" + IndexSnapshot.fileName, action: "looking for the index")
        }
        // The new snapshot replaces the former one.
        let free = try freeByteCount() + (former?.allocatedByteCount ?? 0)
        let needed = IndexSnapshot.byteCount(slotCount: index.total.count, dictionaries: segments.dictionaries)
        return free / Self.snapshotPlenty >= needed
    }

    /// A snapshot is written only where this many times its length is free.
    private static var snapshotPlenty: Int { 8 }

    /// Leaves a snapshot for the next process that opens the log, if enough has changed.
    func leave() {
        _ = Result { () throws(StoreError) in
            let records = try looking { $0.recordsSinceSnapshot }
            guard records > 0, try folder.isCurrent() else { return }
            if records >= index.total.count / Self.fewChanges { try writeSnapshot() }
        }
    }

    /// The share of entries that may have changed without a snapshot when a store is closed.
    private static var fewChanges: Int { 64 }

    // MARK: Removing

    func removeSnapshot() throws(StoreError) {
        do {
            try root.remove(IndexSnapshot.fileName)
        } catch {
            throw StoreError(error, path: path + "/" + IndexSnapshot.fileName, action: "removing the index")
        }
    }

    /// Removes a snapshot that no process begins with any more: the segment of its position was given up, or its head
    /// is damaged. In stores without limits, entries need its room.
    func removeUselessSnapshot(_ writer: borrowing Writer) throws(StoreError) {
        if settings.isLimited { return }
        let snapshot: IndexSnapshot?
        do {
            snapshot = try IndexSnapshot(in: root)
        } catch {
            throw StoreError(error, path: path + "/" + IndexSnapshot.fileName, action: "reading the index")
        }
        if let snapshot, snapshot.position.segment >= writer.floor { return }
        try removeSnapshot()
    }
}
