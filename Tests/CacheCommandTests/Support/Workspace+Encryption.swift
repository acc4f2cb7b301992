import Sealing
import Testing

extension Workspace {
    /// A line with the key of the cache `e`, for the variable `KEY`.
    static let key = "1:" + String(repeating: "0a", count: 32)

    /// Fills an encrypted cache `e`, where this build can encrypt.
    func warmEncrypted(from source: String) throws {
        guard CipherAlgorithm.isAvailable else { return }
        let words = ["warm", source, "--key", "id", "--cache", "e", "--root", root, "--key-env", "KEY", "--quiet"]
        try #require(RealTool.run(words, variables: ["KEY": Self.key]).status == 0)
    }
}
