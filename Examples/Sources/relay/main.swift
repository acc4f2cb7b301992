import Foundation
import KeyedArchive

/// Two processes that exchange commands and graphs of objects over pipes: the program starts itself as its child.
func work() async throws {
    let relay = try Relay()
    try await relay.commands.send(encoding: Command.list(genus: "Panther"))
    try await relay.commands.send(encoding: Command.list(genus: "Lynx"))
    try await relay.commands.finish()
    for try await animals in relay.answers {
        print("\(animals.count) animals")
        for animal in animals { print("  \(animal)") }
        if let first = animals.first, first === animals.last { print("  the first and the last one are one") }
    }
    print("the child ended with \(relay.wait())")
}

/// A receiver is cancelled while a task waits for its next message.
func cancel() async throws {
    let relay = try Relay()
    try await relay.commands.send(encoding: Command.parade)
    let answers = relay.answers
    let (seen, saw) = AsyncStream.makeStream(of: Void.self)
    let watching = Task {
        do throws(TransferError) {
            while try await answers.next() != nil { saw.yield() }
            return "the parade ended"
        } catch {
            return "\(error.code)"
        }
    }
    var count = 0
    for await _ in seen {
        count += 1
        if count == 3 { break }
    }
    answers.cancel()
    print("after three of a parade: \(await watching.value)")
    relay.commands.cancel()
    relay.stop()
}

/// A child that dies in the middle of an answer, and one that sends something else.
func fail() async throws {
    for command in [Command.die, .babble] {
        let relay = try Relay()
        try await relay.commands.send(encoding: command)
        do throws(TransferError) {
            while let animals = try await relay.answers.next() { print("\(animals.count) animals") }
        } catch {
            print("\(error.code) after \(error.messageCount) of its messages")
        }
        relay.stop()
    }
    let relay = try Relay()
    relay.stop()
    do throws(TransferError) {
        // A process that is gone reads no commands.
        while true { try await relay.commands.send(encoding: Command.parade) }
    } catch {
        print("sending to nobody: \(error.code)")
    }
}

if CommandLine.arguments.dropFirst().first == "child" {
    do {
        try await Child.run()
    } catch let error as TransferError where error.code == .disconnected {
        // The parent has had enough.
        exit(0)
    }
} else {
    try await work()
    try await cancel()
    try await fail()
}
