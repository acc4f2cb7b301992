import Foundation

// fleet URL FILE: starts four processes that share the cache `cities` on the server at URL, which
// `typed-cache warm FILE --shared URL --cache cities --key geonameid --type fleet.City` has filled.

let arguments = Array(CommandLine.arguments.dropFirst())
guard arguments.count >= 2 else {
    FileHandle.standardError.write(Data("usage: fleet URL FILE\n".utf8))
    exit(2)
}
do {
    if arguments.count == 3 {
        try await Worker(server: arguments[0], file: arguments[1]).run()
    } else {
        var fleet = try Fleet(server: arguments[0], file: arguments[1])
        try await fleet.run()
    }
} catch {
    let sentence = (error as? FleetError)?.description ?? error.localizedDescription
    FileHandle.standardError.write(Data("fleet: \(sentence)\n".utf8))
    exit(1)
}
