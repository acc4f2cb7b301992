import KeyedArchive

/// The keys that a command is about, one after another.
struct KeySource {
    /// Where the keys come from.
    enum Origin: Equatable {
        case given([String])
        /// Standard input: one key per line, escaped as `list` prints them; or raw, with a NUL after each.
        case standardInput(isRaw: Bool)

        /// - Parameters:
        ///   - operands: keys, or `-` alone for standard input.
        ///   - isRaw: whether the keys on standard input are said to be raw.
        init(_ operands: [String], isRaw: Bool, of command: any Subcommand.Type) throws(ArgumentError) {
            if operands.contains("-") {
                guard operands.count == 1 else { throw command.failure(.conflictingOptions("-", "other keys")) }
                self = .standardInput(isRaw: isRaw)
            } else {
                // Arguments hold no NUL.
                guard !isRaw else { throw command.failure(.missingOperand("-")) }
                self = .given(operands)
            }
        }
    }

    private enum Rest {
        case given(ArraySlice<String>)
        case input(FrameReader<LineScanner>, isRaw: Bool)
    }

    /// The longest key with every byte escaped, and more.
    private static let longestLine = 16 << 10

    private var rest: Rest
    private let interruption: any Interruption

    /// Watches for signals from then on, which end the keys.
    ///
    /// - Throws: `.source` if standard input cannot be read.
    init(_ origin: Origin, _ environment: CommandEnvironment) throws(CommandFailure) {
        interruption = environment.trapSignals()
        switch origin {
        case .given(let keys): rest = .given(keys[...])
        case .standardInput(let isRaw):
            do throws(SourceError) {
                let input = try environment.openInput(.standardInput, interruption)
                var scanner = LineScanner()
                if isRaw { scanner.terminator = 0 }
                let reader = FrameReader(ByteWindow(input), scanner: scanner, limit: Self.longestLine)
                rest = .input(reader, isRaw: isRaw)
            } catch {
                throw .source(error, .standardInput)
            }
        }
    }

    /// The next key, or why its line stands for none; `nil` at the end.
    ///
    /// - Throws: `.source` if standard input cannot be read any further; `.interrupted`.
    mutating func next() throws(CommandFailure) -> Result<String, BadRecord>? {
        if let signal = interruption.signal { throw .interrupted(signal: signal) }
        switch rest {
        case .given(var keys):
            let key = keys.popFirst()
            rest = .given(keys)
            return key.map(Result.success)
        case .input(var reader, let isRaw):
            defer { rest = .input(reader, isRaw: isRaw) }
            do throws(SourceError) {
                guard let frame = try reader.next() else { return nil }
                return Self.key(in: frame, of: reader.window.bytes, isRaw: isRaw)
            } catch {
                throw CommandFailure(error, of: .standardInput, interruption)
            }
        }
    }

    private static func key(in frame: Frame, of bytes: [UInt8], isRaw: Bool) -> Result<String, BadRecord> {
        func fail(_ reason: BadRecordReason) -> Result<String, BadRecord> {
            .failure(BadRecord(line: frame.line, reason: reason))
        }
        if frame.isTooLong { return fail(.rejected("the key is longer than \(ByteText(longestLine))")) }
        guard let text = String(validating: bytes[frame.range], as: UTF8.self) else {
            return fail(.rejected("the key is not UTF-8 text"))
        }
        if isRaw { return .success(text) }
        guard let key = EscapedText.unescaped(text) else {
            return fail(.rejected("a backslash must be escaped, as list does; raw keys are read with --null"))
        }
        return .success(key)
    }
}
