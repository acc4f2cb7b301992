#if DEBUG
    extension SegmentLog {
        /// Checks the invariants that hold after every change of the log, from the state of this process alone: it
        /// makes no system call.
        ///
        /// The index is looked at after every change while it has few entries, and after every 64th one otherwise.
        func checkInvariants() {
            guard let tail = tail.current else { return }
            let number = tail.segment.number
            precondition(
                tail.end >= tail.segment.headerByteCount ?? 0,
                "the tail ends before its first record"
            )
            precondition(chain.firstLiveSegment <= number, "the first segment is behind the tail")
            let known = chain.byteCounts.keys
            precondition(
                known.allSatisfy {
                    $0 >= chain.firstLiveSegment && ($0 < number || chain.isSealed && $0 == number)
                },
                "the chain has segments that are dropped, or behind the tail"
            )
            if let first = known.min() {
                precondition(
                    known.count { $0 < number } == Int(number - min(first, number)),
                    "a segment is missing in the chain"
                )
            }
            let total = chain.allByteCounts.values.reduce(0, +)
            precondition(total == chain.byteCount, "the segments take \(total) bytes, and not \(chain.byteCount)")
            guard reader.index.isOfRecords else { return }
            if reader.index.loadedCount <= 64 || counts.appendedByteCount % 64 == 0 { checkIndex(upTo: tail) }
        }

        /// Checks that each slot in memory is of a record in a live segment, and that those of the tail end before it does.
        private func checkIndex(upTo tail: LogTail.Position) {
            var used = 0
            var (count, byteCount) = (0, 0)
            reader.index.forEachLoadedSlot { slot in
                count += 1
                byteCount += Int(slot.byteCount)
                // Of a lost record; its place may be none.
                if slot.isVague { return }
                let end = Int(slot.place.offset) + Int(slot.byteCount)
                precondition(
                    slot.place.segment >= chain.firstLiveSegment && slot.place.segment <= tail.segment.number,
                    "a slot is in segment \(slot.place.segment), which is dropped or behind the tail"
                )
                guard slot.place.segment == tail.segment.number else { return }
                precondition(end <= tail.end, "a slot's record ends at \(end), behind the tail's end \(tail.end)")
                used += Int(slot.byteCount)
            }
            precondition(
                count == reader.index.loadedCount && byteCount == reader.index.loadedByteCount,
                "the index counts \(reader.index.loadedCount) slots, and has \(count)"
            )
            // A former segment may have been cut by hand; its records are known until they are fetched.
            precondition(used <= tail.end, "the records of the tail take more bytes than it has")
        }
    }
#endif
