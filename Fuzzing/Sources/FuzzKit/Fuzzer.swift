import CFuzzer
import Foundation

/// libFuzzer with the process's own arguments, on one closure.
public enum Fuzzer {
    // Written once, before libFuzzer begins; it calls back on the same thread.
    nonisolated(unsafe) private static var attempt: (Data) throws -> Void = { _ in }

    /// Tries inputs until libFuzzer's options say that it is enough. An error of `attempt` is a find, as a trap is.
    public static func run(_ attempt: @escaping (Data) throws -> Void) -> Never {
        self.attempt = attempt
        var count = CommandLine.argc
        var arguments: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>? = CommandLine.unsafeArgv
        let code = LLVMFuzzerRunDriver(&count, &arguments) { start, count in
            do {
                try Fuzzer.attempt(Data(UnsafeBufferPointer(start: start, count: count)))
            } catch {
                fatalError("\(error)")
            }
            return 0
        }
        exit(code)
    }
}
