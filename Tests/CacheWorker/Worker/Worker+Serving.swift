import Foundation

extension Worker {
    /// Performs the operation in each line of standard input, and answers with a line each.
    ///
    ///     save k3, fetch k3, …     one operation; its answer
    ///     run 81234567890          operations of its own until then; “finished”
    ///
    /// Ends with its input, or when its parent process has ended.
    func serve() {
        Terminal.say("opened")
        let parent = getppid()
        while let line = readLine() {
            var words = line.split(separator: " ")[...]
            if words.first == "run", words.count == 2, let end = UInt64(words[1]) {
                while MonotonicTime.now.nanoseconds < end, getppid() == parent { step() }
                Terminal.say("finished")
            } else if let operation = Operation(takingFrom: &words), words.isEmpty {
                Terminal.say("\(perform(operation))")
            } else {
                Terminal.say("failed 0 no command: \(line)")
            }
        }
    }
}
