import Foundation

let command: WorkerCommand
do {
    command = try WorkerCommand(Array(CommandLine.arguments.dropFirst()))
} catch {
    Terminal.tell("\(error)\n\n\(WorkerCommand.helpText)")
    exit(2)
}
do {
    switch command {
    case .help:
        Terminal.say(WorkerCommand.helpText)
    case .work(let settings):
        Interruption.ignore()
        try Worker(settings).serve()
    case .models(let worker):
        try await worker.run()
    case .many(let many):
        try many.run()
    case .fork(let forking):
        try forking.run()
    case .torture(let options):
        let executable = Bundle.main.executableURL ?? URL(fileURLWithPath: CommandLine.arguments[0])
        exit(try await TortureRun(options: options, executable: executable).run())
    }
} catch {
    Terminal.tell("\(error)")
    exit(1)
}
