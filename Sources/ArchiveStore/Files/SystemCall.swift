import Foundation

/// A call of the system with its operands, of which the names stand beside it in ``FileLayer/Call``.
///
/// Made only where a test is asked: its volume can answer the call in the system's place, by ``FileLayer/Answer/done(_:)``.
///
/// Sendable although it has pointers: they are valid, and used, while the call is under way, on the thread that makes it.
enum SystemCall: @unchecked Sendable {
    /// A descriptor.
    typealias Open = Int32

    /// Without a directory, the name is a path.
    case open(in: Open?, flags: Int32)
    case makeFile(in: Open, flags: Int32)
    case makeDirectory(in: Open?)
    case status(Open, UnsafeMutablePointer<stat>)
    case statusOfName(in: Open?, UnsafeMutablePointer<stat>)
    case extent(Open, linkCount: UnsafeMutablePointer<UInt64>, byteCount: UnsafeMutablePointer<Int64>)
    case byteCount(Open)
    case freeSpace(Open, UnsafeMutablePointer<statvfs>)
    case read(Open, into: UnsafeMutableRawBufferPointer, at: Int)
    /// Without a place, at the position of the open file.
    case write(Open, UnsafeRawBufferPointer, at: Int?)
    case truncate(Open, to: Int)
    case nextData(Open, from: Int)
    case allocate(Open, byteCount: Int)
    /// Its length stays.
    case allocateAhead(Open, Range<Int>)
    case synchronize(Open, onlyData: Bool)
    case lock(Open, flags: Int32)
    case unlock(Open)
    case lockByte(Open, at: Int64)
    case rename(in: Open, to: Open)
    case link(in: Open, to: Open)
    case remove(in: Open, flags: Int32)
    case changeOwner(Open)
    /// Begins to list the names of an open directory. A volume answers with an address of its own, which the next two
    /// calls give back.
    case list(Open)
    /// A volume answers with the address of a `dirent`, or 0 at the end.
    case nextName(list: Int)
    case closeList(Int)
    case close(Open)

    var operation: FileLayer.Operation {
        switch self {
        case .open: .open
        case .makeFile: .makeFile
        case .makeDirectory: .makeDirectory
        case .status, .statusOfName, .extent, .byteCount, .freeSpace: .status
        case .read, .nextData: .read
        case .write, .truncate, .allocate, .allocateAhead: .write
        case .synchronize: .synchronize
        case .lock, .lockByte: .lock
        case .unlock: .unlock
        case .rename: .rename
        case .link: .link
        case .remove: .remove
        case .changeOwner: .changeOwner
        case .list, .nextName: .list
        case .close, .closeList: .close
        }
    }
}

/// The time and the chance of a simulation. A store in one does its work in the background at once, on the thread that
/// starts it: so a test can repeat all of it.
protocol SimulatedWorld: Sendable {
    /// In nanoseconds, as ``CoarseClock`` gives it.
    var now: UInt64 { get }
    func randomNumber() -> UInt64
    /// See ``BootIdentity``.
    var boot: UInt64 { get }
}
