@testable import CacheCommand

/// One run of the command in memory.
struct ToolRun {
    let status: ExitStatus
    let output: MemoryOutput
    let errors: MemoryErrors

    /// - Parameters:
    ///   - input: the content of standard input.
    ///   - bytes: the same, if it is not text.
    ///   - answer: the answer of a person; `nil` where no person can be asked.
    init(
        _ arguments: [String],
        on backend: any CacheBackend,
        input: String = "",
        bytes: [UInt8]? = nil,
        answer: Bool? = nil,
        interruption: TestInterruption = TestInterruption(),
        columns: Int? = nil,
        output: MemoryOutput = MemoryOutput()
    ) {
        let errors = MemoryErrors(columns: columns)
        var time = Duration.zero
        let environment = CommandEnvironment(
            output: output,
            errors: errors,
            backend: backend,
            confirm: answer.map { answer in
                { question in
                    errors.write(question + "\n")
                    return answer
                }
            },
            now: {
                // Every look at the clock takes a millisecond.
                time += .milliseconds(1)
                return time
            },
            trapSignals: { interruption },
            openInput: { location, interruption throws(SourceError) in
                guard location == .standardInput else {
                    return try FileInput(location, interruption: interruption)
                }
                return MemoryInput(bytes ?? Array(input.utf8))
            }
        )
        status = CommandLineTool(environment).run(arguments)
        self.output = output
        self.errors = errors
    }
}
