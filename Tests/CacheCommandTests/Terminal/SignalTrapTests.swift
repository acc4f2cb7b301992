import Foundation
import Testing

@testable import CacheCommand

/// One test, since signals belong to the whole process.
struct SignalTrapTests {
    @Test(
        "A signal becomes a flag and ends a read that waits; one that was ignored stays ignored",
        .timeLimit(.minutes(1))
    )
    func trap() throws {
        defer { signal(SIGINT, SIG_DFL) }
        signal(SIGINT, SIG_IGN)
        let deaf = SignalTrap()
        kill(getpid(), SIGINT)
        #expect(deaf.signal == nil)

        signal(SIGINT, SIG_DFL)
        var ends: [Int32] = [-1, -1]
        try #require(pipe(&ends) == 0)
        defer { for end in ends { close(end) } }
        let trap = SignalTrap()
        let input = try FileInput(.file("/dev/fd/\(ends[0])"), interruption: trap)
        #expect(input.size == nil)
        var window = ByteWindow(input)
        #expect(write(ends[1], "abc", 3) == 3)
        #expect(try window.fill())
        #expect(window.end - window.start == 3)
        #expect(trap.signal == nil)

        // The pipe is empty and stays open: without the signal, this read would wait forever.
        Thread {
            usleep(50_000)
            kill(getpid(), SIGINT)
        }.start()
        #expect(throws: SourceError.interrupted) { try window.fill() }
        #expect(trap.signal == SIGINT)
    }
}
