import Foundation

@testable import KeyedArchive

/// A receiver's frames, tried on any bytes: in whichever pieces they come, the same messages come out of them, the same
/// error ends them, and no message is held that is longer than the limit.
enum TransferTrial {
    struct Failure: Error, CustomStringConvertible {
        let description: String
    }

    /// The result of reading a stream.
    private struct Reading: Equatable {
        var messageCount = 0
        var offset = 0
        var error: TransferError.Code?
        /// Bytes of text in the messages that could be decoded, so that pieces that are put together wrongly show.
        var messages: [String] = []
    }

    private static let byteLimit = 4_096

    static func receive(_ data: Data) throws(Failure) {
        for bytes in [[UInt8](data), sealed([UInt8](data))] {
            let whole = try read(bytes, pieceByteCount: max(1, bytes.count))
            for pieceByteCount in [1, 19, 64] {
                let pieces = try read(bytes, pieceByteCount: pieceByteCount)
                guard pieces == whole else {
                    throw Failure(description: "whole: \(whole)\nin pieces of \(pieceByteCount): \(pieces)")
                }
            }
        }
        // With right checksums every frame up to the limit is a message.
        let frames = frameLengths(of: sealed([UInt8](data)))
        let wanted = frames.prefix { $0 <= byteLimit }.count
        let found = try read(sealed([UInt8](data)), pieceByteCount: 8_192).messageCount
        guard found == wanted else { throw Failure(description: "\(found) messages, where there are \(wanted)") }
    }

    private static func read(_ bytes: [UInt8], pieceByteCount: Int) throws(Failure) -> Reading {
        var parser = FrameParser(byteLimit: byteLimit)
        var reading = Reading()
        var rest = bytes[...]
        do throws(TransferError) {
            loop: while true {
                switch try parser.next() {
                case .message(let memory): reading.messages.append(text(of: memory))
                case .end: break loop
                case .needsMore:
                    if rest.isEmpty {
                        if let error = parser.end() { throw error }
                        break loop
                    }
                    parser.append(Array(rest.prefix(pieceByteCount)))
                    rest = rest.dropFirst(pieceByteCount)
                }
            }
        } catch {
            guard error.offset == parser.offset, error.messageCount == parser.messageCount else {
                throw Failure(description: "an error at another place: \(error)")
            }
            reading.error = error.code
        }
        reading.messageCount = parser.messageCount
        reading.offset = parser.offset
        guard reading.offset <= bytes.count, reading.messages.count == reading.messageCount else {
            throw Failure(description: "more than there is: \(reading)")
        }
        return reading
    }

    private static func text(of memory: UnarchiverMemory) -> String {
        do throws(ArchiveError) {
            return try KeyedUnarchiver.unarchive([String].self, allowing: [], in: memory).joined()
        } catch {
            return "\(error.code)"
        }
    }

    /// The bytes as frames: each 20 bytes become a header with a length no longer than the rest and with right
    /// checksums, which a fuzzer would hardly find.
    private static func sealed(_ bytes: [UInt8]) -> [UInt8] {
        var output: [UInt8] = []
        var rest = bytes[...]
        while rest.count >= FrameHeader.byteCount {
            let length = Int(rest[rest.startIndex + 10]) << 8 | Int(rest[rest.startIndex + 11])
            rest = rest.dropFirst(FrameHeader.byteCount)
            let archive = Array(rest.prefix(length))
            rest = rest.dropFirst(length)
            archive.withUnsafeBytes { FrameHeader(.message, archive: $0).write(to: &output) }
            output += archive
        }
        return output + rest
    }

    /// The lengths in the headers of sealed frames, as a reader that trusts them finds them.
    private static func frameLengths(of bytes: [UInt8]) -> [Int] {
        var lengths: [Int] = []
        var offset = 0
        while offset + FrameHeader.byteCount <= bytes.count {
            let length = bytes[(offset + 8)..<(offset + 12)].reduce(0) { $0 << 8 | Int($1) }
            lengths.append(length)
            offset += FrameHeader.byteCount + length
        }
        return lengths
    }
}

extension TransferTrial {
    /// Sound streams, to begin with.
    static func samples() throws(ArchiveError) -> [(name: String, data: Data)] {
        var streams: [(name: String, data: Data)] = []
        var all: [UInt8] = []
        for name in ["one", "two", "three"] {
            let archive = try KeyedArchiver.archivedData(withRootObject: [name, name, "ü"])
            archive.withUnsafeBytes { archive in
                FrameHeader(.message, archive: archive).write(to: &all)
                all += archive
            }
            streams.append((name, Data(all)))
        }
        FrameHeader(.end, archive: UnsafeRawBufferPointer(start: nil, count: 0)).write(to: &all)
        streams.append(("finished", Data(all)))
        return streams
    }
}
