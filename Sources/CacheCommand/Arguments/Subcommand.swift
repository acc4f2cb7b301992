/// What the command can do.
enum Subcommand: String, CaseIterable, Sendable {
    case warm
    case list
    case get
    case stats
    case remove
    case trim
    case clear
    case dump
    case help
}
