/// Shows progress on a terminal, redrawn in place at most ten times a second; elsewhere it is silent.
struct ProgressBar {
    private static let interval = Duration.milliseconds(100)

    private let output: any ErrorOutput
    private let isEnabled: Bool
    private var lastDrawn: Duration?
    private var isShown = false

    init(on output: any ErrorOutput, isEnabled: Bool = true) {
        self.output = output
        self.isEnabled = isEnabled && output.columns != nil
    }

    /// Draws `progress` if the last time was long enough ago.
    mutating func update(_ progress: Progress) {
        guard isEnabled, progress.elapsed - (lastDrawn ?? .zero) >= Self.interval else { return }
        guard let columns = output.columns else { return }
        lastDrawn = progress.elapsed
        isShown = true
        output.write("\r\(ProgressText(progress, columns: columns))\u{1B}[K")
    }

    /// Takes the line away, so that something else can be written.
    mutating func erase() {
        guard isShown else { return }
        isShown = false
        output.write("\r\u{1B}[K")
    }
}

/// How far a long piece of work has come.
struct Progress: Sendable, Equatable {
    var records = 0
    /// The plural noun for the records.
    var noun = "records"
    var bytes = 0
    /// How many bytes there are in all, or `nil` if that is not known.
    var size: Int?
    var elapsed = Duration.zero

    /// Between 0 and 1; `nil` if it is not known.
    var fraction: Double? {
        guard let size, size > 0 else { return nil }
        return min(1, Double(bytes) / Double(size))
    }

    /// Records per second so far; `nil` as long as that says nothing.
    var rate: Double? {
        elapsed.inSeconds > 0.05 ? Double(records) / elapsed.inSeconds : nil
    }

    /// How long the rest takes if it goes on like this; `nil` as long as that says nothing.
    var remaining: Duration? {
        guard let fraction, fraction > 0.001, elapsed.inSeconds > 0.5 else { return nil }
        return .seconds(elapsed.inSeconds * (1 - fraction) / fraction)
    }
}

/// One line of text for how far work has come, never wider than the terminal.
struct ProgressText: CustomStringConvertible {
    let description: String

    private static let narrowestBar = 10
    private static let widestBar = 40

    init(_ progress: Progress, columns: Int) {
        var parts = ["\(CountText(progress.records)) \(progress.noun)"]
        if let fraction = progress.fraction {
            let percent = String(Int(fraction * 100))
            parts.insert(String(repeating: " ", count: max(0, 3 - percent.count)) + percent + "%", at: 0)
        }
        if let rate = progress.rate { parts.append("\(CountText(Int(rate)))/s") }
        if let remaining = progress.remaining { parts.append("\(Self.clock(remaining)) left") }
        // Terminals wrap a line that fills the last column.
        let room = max(0, columns - 1)
        while parts.count > 1, Self.width(parts) > room { parts.removeLast() }
        var text = parts.joined(separator: "  ")
        let bar = min(Self.widestBar, room - Self.width(parts) - 4)
        if let fraction = progress.fraction, bar >= Self.narrowestBar {
            let filled = Int(fraction * Double(bar))
            text =
                "[" + String(repeating: "#", count: filled) + String(repeating: "-", count: bar - filled)
                + "]  "
                + text
        }
        description = String(text.prefix(room))
    }

    private static func width(_ parts: [String]) -> Int {
        parts.reduce(2 * (parts.count - 1)) { $0 + $1.count }
    }

    /// `0:07`, `12:34`, `1:02:03`; at most `99:59:59`, since longer estimates are of no use.
    private static func clock(_ time: Duration) -> String {
        let seconds = Int(min(time.inSeconds.rounded(.up), 359_999))
        let (hours, minutes, rest) = (seconds / 3600, seconds / 60 % 60, seconds % 60)
        let twoDigits = { (number: Int) in (number < 10 ? "0" : "") + String(number) }
        return hours > 0
            ? "\(hours):\(twoDigits(minutes)):\(twoDigits(rest))" : "\(minutes):\(twoDigits(rest))"
    }
}
