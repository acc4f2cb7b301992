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
