/// The subcommands, by the names that the command line has for them.
enum Subcommand: String, CaseIterable, Sendable {
    case warm
    case list
    case get
    case stats
    case verify
    case export
    case `import`
    case remove
    case trim
    case compact
    case clear
    case dump
    case help
}
