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
