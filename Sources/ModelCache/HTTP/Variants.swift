/// The request headers that an answer depends on (`Vary`; RFC 9111, section 4.1).
///
/// A hash stands for each value, which may be long. It keeps no secret: a short value is found from it by trial. The
/// values are the app's own, so none is made to have another one's hash.
enum Variants {
    /// The key of an answer that depends on more than headers; it matches no request.
    static let any = "*"

    /// Names and hashes, for the request that was answered.
    static func of(_ vary: String, _ request: ModelRequest) -> [String: String] {
        var varying: [String: String] = [:]
        for member in HeaderMembers(vary) {
            // No server means that many.
            if member == "*" || varying.count >= 32 || member.utf8.count > 256 { return [any: ""] }
            let name = member.lowercased()
            varying[name] = hash(of: name, in: request)
        }
        return varying
    }

    static func match(_ varying: [String: String], _ request: ModelRequest) -> Bool {
        varying.allSatisfy { name, value in name != any && hash(of: name, in: request) == value }
    }

    private static func hash(of name: String, in request: ModelRequest) -> String {
        guard let value = request.headers[name] else { return "" }
        // FNV-1a.
        var hash: UInt64 = 0xCBF2_9CE4_8422_2325
        for byte in normal(value, of: name).utf8 { hash = (hash ^ UInt64(byte)) &* 0x0000_0100_0000_01B3 }
        return String(hash, radix: 36)
    }

    /// A value in a form that all values of the same meaning have.
    private static func normal(_ value: String, of name: String) -> String {
        switch name {
        case "accept-language", "accept-encoding", "accept-charset":
            value.lowercased().filter { $0 != " " && $0 != "\t" }
        default:
            HeaderMembers(value).joined(separator: ",")
        }
    }
}
