import KeyedArchive

/// An argument as it is typed into a shell, to stand in messages: quoted where it needs to be.
struct ShellText: CustomStringConvertible {
    let description: String

    init(_ argument: String) {
        let isPlain = !argument.isEmpty && argument.utf8.allSatisfy(Self.isPlain)
        let quoted =
            "'" + argument.split(separator: "'", omittingEmptySubsequences: false).joined(separator: "'\\''") + "'"
        // An argument that cannot be shown cannot be typed either: its escaped form at least tells which one it is.
        let shown =
            EscapedText(argument).description == argument
            ? (isPlain ? argument : quoted) : "'\(EscapedText(argument))'"
        description = shown
    }

    private static func isPlain(_ byte: UInt8) -> Bool {
        switch UnicodeScalar(byte) {
        case "a"..."z", "A"..."Z", "0"..."9", "-", "_", ".", "/", ":", "@", "%", "+", ",", "=": true
        default: false
        }
    }
}
