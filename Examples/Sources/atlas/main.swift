import Foundation

func report(_ sentence: String) {
    FileHandle.standardError.write(Data("atlas: \(sentence)\n".utf8))
}

do {
    let request = try Request(Array(CommandLine.arguments.dropFirst()))
    try Atlas(root: request.root).answer(request.question)
} catch let error as UsageError {
    report("\(error.description)\n\(Request.usage)")
    exit(2)
} catch let error as AtlasError {
    report(error.description)
    exit(1)
} catch {
    report(error.localizedDescription)
    exit(1)
}
