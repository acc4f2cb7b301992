import Foundation
import RedisServers
import RedisWire
import Testing

@testable import CacheCommand

/// A cache on a server, with a prefix of a test's own, and the command that works on it.
struct ServerCache {
    static let isMissing = "no redis-server is installed"
    static let password = "hunter2%40home"

    let server: RedisServer
    let connection: RedisConnection
    let prefix = "t\(UInt64.random(in: 0 ... .max))"
    let name: String

    init(_ name: String = "c") throws {
        server = try #require(RedisServer.common)
        self.name = name
        connection = try RedisConnection(to: server.endpoint, settings: RedisSettings(endpoints: [server.endpoint]))
    }

    var url: String { "redis://127.0.0.1:\(server.port)/?prefix=\(prefix)" }
    var options: [String] { ["--cache", name, "--shared", url] }

    func run(
        _ words: String...,
        input: String = "",
        answer: Bool? = nil,
        interruption: TestInterruption = TestInterruption(),
        output: MemoryOutput = MemoryOutput()
    ) -> ToolRun {
        ToolRun(
            words + options,
            on: TypedCacheBackend(),
            input: input,
            answer: answer,
            interruption: interruption,
            output: output
        )
    }

    /// As ``run(_:input:answer:interruption:output:)``, for a command that must succeed.
    @discardableResult
    func succeed(_ words: String..., input: String = "") throws -> ToolRun {
        let run = ToolRun(words + options, on: TypedCacheBackend(), input: input)
        try #require(run.status == .success, "\(words): \(run.errors.text)")
        return run
    }

    func ask(_ command: RedisCommand) throws -> RedisValue { try connection.sendAndWait([command])[0] }

    /// The names of all entries.
    func entryNames() throws -> [String] {
        let found = try ask(["KEYS", .text("tc:\(prefix):*")]).elements ?? []
        return found.compactMap(\.text).filter { $0.hasSuffix("}") }.sorted()
    }

    /// A figure of the server.
    func figure(_ name: String, in section: String) throws -> Int {
        let text = try ask(["INFO", .text(section)]).text ?? ""
        let line = try #require(text.split(whereSeparator: \.isNewline).first { $0.hasPrefix(name) }, "\(text)")
        let digits = line.dropFirst(name.count).drop { !$0.isNumber }.prefix { $0.isNumber }
        return try #require(Int(digits))
    }

    /// `count` records with the keys `k0`, `k1`, ….
    static func records(_ count: Int, _ text: String = "record") -> String {
        (0..<count).map { #"{"id":"k\#($0)","number":\#($0),"text":"\#(text) \#($0)"}"# + "\n" }.joined()
    }
}
