import ArchiveStore
import RedisWire

/// The server, or the cluster, that a tier's entries are on; its failures are a store's.
struct Engine: Sendable {
    private let client: any RedisClient

    init(_ client: any RedisClient) { self.client = client }

    /// Sends commands one behind another, and blocks until all are answered.
    ///
    /// - Returns: the answers, in their order, refusals among them: see ``check(_:doing:)``.
    /// - Throws: `.unreachable` if answers are missing; commands may have been executed. `.closed` and `.forked`.
    func ask(_ commands: [RedisCommand], action: String) throws(StoreError) -> [RedisValue] {
        do throws(RedisError) {
            let values = try client.sendAndWait(commands)
            // An app may have brought its own client.
            guard values.count == commands.count else {
                throw RedisError(.malformed, mayHaveRun: true, "the client gave \(values.count) answers")
            }
            return values
        } catch {
            let code: StoreError.Code =
                switch error.code {
                case .closed: .closed
                case .forked: .forked
                default: .unreachable
                }
            throw StoreError(code, action: action, reason: error.message)
        }
    }

    /// Throws the server's refusal of a command.
    static func check(_ value: RedisValue, doing action: String) throws(StoreError) {
        guard case .error(let error) = value else { return }
        let code: StoreError.Code =
            switch error.code {
            case "WRONGTYPE": .foreign
            case "LOADING", "BUSY", "CLUSTERDOWN", "MASTERDOWN", "READONLY", "TRYAGAIN", "NOREPLICAS": .unreachable
            default: .io
            }
        throw StoreError(code, action: action, reason: "the server refused: \(error.message)")
    }
}
