/// The commands that begin each connection, and their answers.
struct RedisGreeting {
    private let names: [String]
    private var answers: [RedisValue] = []
    let bytes: [UInt8]

    init(_ settings: RedisSettings, _ credentials: RedisCredentials?) {
        var hello: [RedisCommand.Argument] = ["HELLO", 3]
        if let credentials {
            hello += ["AUTH", .text(credentials.user ?? "default"), .text(credentials.password)]
        }
        if let name = settings.clientName { hello += ["SETNAME", .text(name)] }
        var commands = [RedisCommand(hello)]
        if settings.database != 0 { commands.append(["SELECT", .integer(settings.database)]) }
        commands += settings.preparation
        names = commands.filter { !$0.isAnsweredByPush }.map(\.name)
        bytes = RedisCommand.bytes(of: commands)
    }

    /// Takes an answer.
    ///
    /// - Returns: the server's description of itself once all commands are answered.
    /// - Throws: `.refused` if the server refuses one of them.
    mutating func take(_ value: RedisValue) throws(RedisError) -> RedisValue? {
        if case .error(let error) = value {
            if answers.isEmpty, error.isOfUnknownCommand { throw Self.speaksNoRESP3("knows no HELLO, so it ") }
            let name = names[answers.count]
            throw RedisError(.refused, "The server refuses \(name): \(error.textWithoutArguments)")
        }
        if answers.isEmpty, value.field("proto")?.integer != 3 { throw Self.speaksNoRESP3() }
        answers.append(value)
        return answers.count == names.count ? answers[0] : nil
    }

    private static func speaksNoRESP3(_ reason: String = "") -> RedisError {
        RedisError(.refused, "The server \(reason)speaks no RESP3; Redis 6.2, Valkey 7.2 and later do.")
    }
}
