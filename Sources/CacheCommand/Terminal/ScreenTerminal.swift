import Foundation

/// A terminal that a command draws its whole screen on.
protocol ScreenTerminal: AnyObject {
    var columns: Int { get }
    var rows: Int { get }
    /// Whether lines may look different from each other.
    var hasColor: Bool { get }
    /// Whether it shows characters beyond ASCII.
    var isUnicode: Bool { get }

    /// Takes the whole screen, and keys as they are pressed. Does so again after ``end()``, and after another program
    /// has changed the terminal.
    func begin()
    /// Gives the terminal back as it was before the first ``begin()``.
    func end()
    func draw(_ text: String) throws(OutputError)
    /// Waits for an event, for so long at most.
    func wait(_ time: Duration) -> ScreenEvent
    /// Stops the process until its user goes on with it.
    func suspend()
}

enum ScreenEvent: Sendable, Equatable {
    /// Nothing happened for so long.
    case none
    case keys([LiveKey])
    /// The terminal has another size, or the process was stopped in the meantime.
    case changed
    case signal(Int32)
    /// The terminal is gone.
    case closed
}

/// The terminal of standard input and output.
///
/// Everything that it changes is given back by ``end()``: on the way out of the command, whichever that is, for signals
/// are turned into events.
final class ProcessTerminal: ScreenTerminal {
    private let output = StandardOutput(isHeldBack: true)
    private let trap: SignalTrap
    private var former: termios?
    let hasColor: Bool
    let isUnicode: Bool

    /// `nil` if standard input or output is not a terminal that can be drawn on.
    init?(variables: [String: String]) {
        guard isatty(STDIN_FILENO) == 1, isatty(STDOUT_FILENO) == 1, variables["TERM"] != "dumb" else { return nil }
        hasColor = variables["NO_COLOR", default: ""].isEmpty
        isUnicode = Self.isUnicode(variables)
        trap = SignalTrap(ending: [SIGINT, SIGTERM, SIGHUP, SIGQUIT], changing: [SIGWINCH, SIGCONT])
    }

    deinit { end() }

    /// Whether the locale's characters are those of UTF-8, by the first variable that is set.
    static func isUnicode(_ variables: [String: String]) -> Bool {
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].lazy.compactMap { variables[$0] }.first { !$0.isEmpty } ?? ""
        let name = locale.lowercased()
        return name.contains("utf-8") || name.contains("utf8")
    }

    private var size: winsize {
        var size = winsize()
        guard ioctl(STDOUT_FILENO, UInt(TIOCGWINSZ), &size) == 0 else { return winsize() }
        return size
    }

    // A terminal that does not know its size has that of the first ones.
    var columns: Int { size.ws_col > 0 ? Int(size.ws_col) : 80 }
    var rows: Int { size.ws_row > 0 ? Int(size.ws_row) : 24 }

    func begin() {
        var mode = termios()
        guard tcgetattr(STDIN_FILENO, &mode) == 0 else { return }
        if former == nil { former = mode }
        // Keys at once, none shown, none turned into a signal.
        mode.c_lflag &= ~tcflag_t(ICANON | ECHO | ISIG | IEXTEN)
        mode.c_iflag &= ~tcflag_t(IXON | ICRNL)
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
        // The other screen, without cursor and without wrapping.
        show("\u{1B}[?1049h\u{1B}[?25l\u{1B}[?7l\u{1B}[2J")
    }

    func end() {
        guard var mode = former else { return }
        former = nil
        show("\u{1B}[0m\u{1B}[?7h\u{1B}[?25h\u{1B}[?1049l")
        tcsetattr(STDIN_FILENO, TCSADRAIN, &mode)
    }

    /// Writes a sequence that the terminal acts on. If it cannot be written, the next drawing says so.
    private func show(_ sequence: String) {
        do throws(OutputError) {
            try draw(sequence)
        } catch {
            return
        }
    }

    func draw(_ text: String) throws(OutputError) {
        try output.write(text)
        try output.flush()
    }

    func suspend() {
        end()
        // To all of the group, as the terminal itself does for ctrl-Z: the shell stops a whole pipeline.
        SignalTrap.unblock(SIGTSTP)
        kill(0, SIGTSTP)
        begin()
    }

    func wait(_ time: Duration) -> ScreenEvent {
        if let signal = trap.signal { return .signal(signal) }
        var waiting = [
            pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0),
            pollfd(fd: trap.descriptor ?? -1, events: Int16(POLLIN), revents: 0),
        ]
        // Rounded up: a wait that is too short would turn in circles.
        let milliseconds = Int32(clamping: Int64(max(0, time.inSeconds) * 1_000) + 1)
        let count = poll(&waiting, nfds_t(waiting.count), milliseconds)
        if let signal = trap.signal { return .signal(signal) }
        if trap.takeChange() { return .changed }
        guard count > 0, waiting[0].revents != 0 else { return .none }
        var bytes = [UInt8](repeating: 0, count: 256)
        let length = read(STDIN_FILENO, &bytes, bytes.count)
        if length < 0, errno == EINTR || errno == EAGAIN { return .none }
        guard length > 0 else { return .closed }
        return .keys(LiveKey.keys(Array(bytes.prefix(length))))
    }
}
