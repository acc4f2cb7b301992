/// The version that `--version` shows.
enum CommandVersion {
    static let current = "0.1.0"
}
