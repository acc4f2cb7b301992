import Foundation
import KeyedArchive

/// The process that answers: commands come on standard input, animals go to standard output.
struct Child {
    nonisolated(unsafe) private static let cats = [
        SubFamily(species: "Lion", genus: "Panther", family: "Felid", order: "Carnivore"),
        SubFamily(species: "Tiger", genus: "Panther", family: "Felid", order: "Carnivore"),
    ]

    static func run() async throws {
        let answers = try ArchiveSender(to: .standardOutput)
        for try await command in try ArchiveReceiver(decoding: Command.self, from: .standardInput) {
            switch command {
            case .list(let genus):
                let found = cats.filter { $0.genus == genus }
                // The first one twice: it is one object on the other side, too.
                try await answers.send(found + found.prefix(1))
            case .parade:
                // Until the parent stops reading.
                while true { try await answers.send(cats) }
            case .die:
                try await answers.send(cats)
                try await answers.flush()
                FileHandle.standardOutput.write(Data([0x89, 0x4B]))
                exit(1)
            case .babble:
                FileHandle.standardOutput.write(Data("Have you heard?\n".utf8))
            }
        }
        try await answers.finish()
    }
}
