import Foundation

/// Bytes that arrive in pieces.
protocol ByteInput {
    /// Fills the beginning of `buffer`, which is not empty, and returns how many bytes; 0 at the end.
    mutating func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int

    /// How many bytes there are in all, or `nil` if that is not known yet.
    var size: Int? { get }
}

/// The bytes of a file, a pipe or a terminal.
final class FileInput: ByteInput {
    let size: Int?
    private let descriptor: Int32
    private let isOwned: Bool
    private let isRegular: Bool
    private let interruption: any Interruption

    /// Opens the file at `location`, or standard input.
    convenience init(_ location: SourceLocation, interruption: any Interruption) throws(SourceError) {
        switch location {
        case .standardInput:
            self.init(STDIN_FILENO, isOwned: false, interruption: interruption)
        case .file(let path):
            let descriptor = interruption.openWaiting(path, O_RDONLY)
            guard descriptor >= 0 else {
                let number = errno
                throw interruption.signal == nil ? .cannotOpen(errno: number) : .interrupted
            }
            self.init(descriptor, isOwned: true, interruption: interruption)
        }
    }

    /// - Parameter isOwned: whether the descriptor is closed with this.
    init(_ descriptor: Int32, isOwned: Bool, interruption: any Interruption) {
        self.descriptor = descriptor
        self.isOwned = isOwned
        self.interruption = interruption
        var status = stat()
        isRegular = fstat(descriptor, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
        size = isRegular ? max(0, Int(status.st_size) - Int(lseek(descriptor, 0, SEEK_CUR))) : nil
    }

    deinit {
        if isOwned { close(descriptor) }
    }

    func read(into buffer: UnsafeMutableRawBufferPointer) throws(SourceError) -> Int {
        while true {
            guard interruption.signal == nil else { throw .interrupted }
            try waitForBytes()
            let count = Foundation.read(descriptor, buffer.baseAddress, buffer.count)
            if count >= 0 { return count }
            guard errno == EINTR else { throw .cannotRead(errno: errno) }
        }
    }

    /// Waits until bytes or a signal come. A signal between a look at a flag and a blocking read would be
    /// missed; `poll` on both sees it whenever it comes. Regular files never block for long.
    private func waitForBytes() throws(SourceError) {
        guard !isRegular, let wake = interruption.descriptor else { return }
        var waiting = [
            pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wake, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&waiting, 2, -1) < 0 {
            guard errno == EINTR else { throw .cannotRead(errno: errno) }
        }
        if waiting[1].revents != 0 { throw .interrupted }
    }
}
