import Foundation
import Synchronization
import TestSupport
import Testing

@testable import CacheCommand

/// The readers and writers of file descriptors, on real descriptors.
struct DescriptorTests {
    @Test("Output is held back, handed over whole, and a reader that has gone is told apart from a failure")
    func output() throws {
        var ends: [Int32] = [-1, -1]
        try #require(openingDescriptors { pipe(&ends) } == 0)
        let output = StandardOutput(descriptor: ends[1])
        try output.write("one\n")
        try output.write("two\n")
        var waiting = pollfd(fd: ends[0], events: Int16(POLLIN), revents: 0)
        #expect(poll(&waiting, 1, 0) == 0)
        try output.flush()
        var bytes = [UInt8](repeating: 0, count: 100)
        #expect(read(ends[0], &bytes, 100) == 8)
        #expect(bytes.starts(with: "one\ntwo\n".utf8))
        close(ends[0])
        try output.write("three\n")
        #expect(throws: OutputError.closed) { try output.flush() }
        close(ends[1])
        // One that is open: the number of a closed one may be another test's file by then.
        let unwritable = open("/dev/null", O_RDONLY | O_CLOEXEC)
        defer { close(unwritable) }
        let refused = StandardOutput(descriptor: unwritable)
        try refused.write("four\n")
        #expect(throws: OutputError.failed(errno: EBADF)) { try refused.flush() }
    }

    @Test("A file is read to its end, and knows its size")
    func file() throws {
        let path = TestDirectory.newPath().path
        defer { unlink(path) }
        let text = Array(repeating: UInt8(ascii: "x"), count: 700_000)
        try Data(text).write(to: URL(filePath: path))
        var window = ByteWindow(try FileInput(.file(path), interruption: TestInterruption()))
        while try window.fill() {}
        #expect(window.bytes[window.start..<window.end].elementsEqual(text))
        #expect(try FileInput(.file(path), interruption: TestInterruption()).size == 700_000)
    }

    @Test("What cannot be opened or read is told with the system's reason; a signal ends the reading")
    func failures() throws {
        let interruption = TestInterruption()
        #expect(throws: SourceError.cannotOpen(errno: ENOENT)) {
            let directory = TestDirectory()
            return try FileInput(.file(directory.url.path), interruption: interruption)
        }
        var window = ByteWindow(try FileInput(.file("/"), interruption: interruption))
        #expect(throws: SourceError.cannotRead(errno: EISDIR)) { try window.fill() }
        var endless = ByteWindow(try FileInput(.file("/dev/zero"), interruption: interruption))
        #expect(try endless.fill())
        interruption.arrive(SIGINT)
        #expect(throws: SourceError.interrupted) { try endless.fill() }
    }

    @Test("A signal just before the waiting for the other end of a pipe ends it", arguments: [O_RDONLY, O_WRONLY])
    func interruptedOpening(flags: Int32) throws {
        let path = TestDirectory.newPath().path
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        let interruption = try LateInterruption()
        let result = Mutex<(descriptor: Int32, errno: Int32)?>(nil)
        let isOpen = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            let descriptor = interruption.openWaiting(path, flags)
            result.withLock { $0 = (descriptor, errno) }
            isOpen.signal()
        }
        if isOpen.wait(timeout: .now() + .seconds(30)) == .timedOut {
            // Opens both ends, so that a call that still waits for one of them returns.
            let both = open(path, O_RDWR | O_CLOEXEC)
            isOpen.wait()
            close(both)
        }
        #expect(result.withLock { $0 }.map { [$0.descriptor, $0.errno] } == [-1, EINTR])
    }

    /// A signal that comes just after the first look for it.
    private final class LateInterruption: Interruption {
        private let ends: [Int32]
        private let number = Atomic<Int32>(0)

        init() throws {
            var ends: [Int32] = [-1, -1]
            try #require(openingDescriptors { pipe(&ends) } == 0)
            self.ends = ends
        }

        deinit { for end in ends { close(end) } }

        var descriptor: Int32? { ends[0] }

        var signal: Int32? {
            let number = number.exchange(SIGINT, ordering: .sequentiallyConsistent)
            guard number == 0 else { return number }
            var byte: UInt8 = 1
            _ = write(ends[1], &byte, 1)
            return nil
        }
    }
}
