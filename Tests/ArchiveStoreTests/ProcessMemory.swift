import Foundation
import Sealing
import Testing

#if os(Linux)
    /// The memory of this process, as a debugger reads it.
    enum ProcessMemory {
        /// How often 32 bytes are in memory that can be written, without the copy that is searched for.
        ///
        /// Only of use in a process where nothing else runs: memory that moves while it is read may not be seen.
        static func count(_ fill: (UnsafeMutableRawBufferPointer) -> Void) throws -> Int {
            let needle = UnsafeMutableRawBufferPointer.allocate(byteCount: 32, alignment: 16)
            let piece = UnsafeMutableRawBufferPointer.allocate(byteCount: 1 << 22, alignment: 16)
            defer {
                SecretBytes.wipe(needle)
                SecretBytes.wipe(piece)
                needle.deallocate()
                piece.deallocate()
            }
            fill(needle)
            let memory = open("/proc/self/mem", O_RDONLY)
            try #require(memory >= 0)
            defer { close(memory) }
            let own = [needle, piece].compactMap { buffer in
                buffer.baseAddress.map {
                    UInt64(UInt(bitPattern: $0))..<UInt64(UInt(bitPattern: $0)) + UInt64(buffer.count)
                }
            }
            var count = 0
            for line in try maps().split(separator: "\n") {
                let words = line.split(separator: " ", maxSplits: 2)
                let bounds = words[0].split(separator: "-").compactMap { UInt64($0, radix: 16) }
                guard words[1].hasPrefix("rw"), bounds.count == 2 else { continue }
                var start = bounds[0]
                while start < bounds[1] {
                    let wanted = min(UInt64(piece.count), bounds[1] - start)
                    let read = pread(memory, piece.baseAddress, Int(wanted), off_t(start))
                    guard read > 0 else {
                        // A page that the system does not show, or that went since the maps were read.
                        start += 4096
                        continue
                    }
                    for offset in places(of: needle, in: UnsafeRawBufferPointer(piece), upTo: read) {
                        let place = start + UInt64(offset)
                        if !own.contains(where: { $0.contains(place) }) { count += 1 }
                    }
                    // Pieces overlap, for bytes on both sides of a border.
                    if UInt64(read) == bounds[1] - start { break }
                    start += UInt64(max(read - 31, 1))
                }
            }
            return count
        }

        /// The parts of memory. Read to the end: the length of such a file is not known before.
        private static func maps() throws -> String {
            let file = open("/proc/self/maps", O_RDONLY)
            try #require(file >= 0)
            defer { close(file) }
            var all: [UInt8] = []
            var piece = [UInt8](repeating: 0, count: 1 << 16)
            while case let count = read(file, &piece, piece.count), count > 0 { all += piece[..<count] }
            return String(decoding: all, as: UTF8.self)
        }

        private static func places(
            of needle: UnsafeMutableRawBufferPointer,
            in bytes: UnsafeRawBufferPointer,
            upTo end: Int
        ) -> [Int] {
            guard let base = bytes.baseAddress, let needle = needle.baseAddress else { return [] }
            var places: [Int] = []
            var start = 0
            let first = Int32(needle.load(as: UInt8.self))
            while start + 32 <= end, let found = memchr(base + start, first, end - start - 31) {
                let offset = UnsafeRawPointer(found) - base
                if memcmp(found, needle, 32) == 0 { places.append(offset) }
                start = offset + 1
            }
            return places
        }
    }
#endif
