import Foundation
import ModelCache

/// Where requests go: below a base, or to a whole URL.
struct RequestAddress: Sendable {
    private let base: URLComponents
    private let origin: Origin

    /// - Throws: `.invalidURL`.
    init(base: URL) throws(HTTPTransportError) {
        guard let components = URLComponents(url: base, resolvingAgainstBaseURL: true),
            let origin = Origin(components)
        else { throw HTTPTransportError(.invalidURL, "the base is no URL of http or https with a host") }
        self.base = components
        self.origin = origin
    }

    /// The URL of a request, and whether it is at the base's scheme, host and port.
    ///
    /// - Throws: `.invalidURL`.
    func url(of request: ModelRequest) throws(HTTPTransportError) -> (url: URL, isOwn: Bool) {
        let parts = request.path.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var components = base
        var queries: [String] = []
        if Self.isWhole(request.path) {
            guard let whole = URLComponents(string: Self.escaped(request.path, keeping: Self.urlCharacters)) else {
                throw HTTPTransportError(.invalidURL, "the path is no whole URL")
            }
            components = whole
            queries = whole.percentEncodedQuery.map { [$0] } ?? []
        } else {
            let below = Self.escaped(String(parts[0].drop { $0 == "/" }), keeping: Self.pathCharacters)
            let path = base.percentEncodedPath
            components.percentEncodedPath =
                below.isEmpty ? path : path.hasSuffix("/") ? path + below : "\(path)/\(below)"
            queries = base.percentEncodedQuery.map { [$0] } ?? []
            if parts.count > 1 { queries.append(Self.escaped(String(parts[1]), keeping: Self.queryCharacters)) }
        }
        queries += request.query.map { item in
            Self.escaped(item.name, keeping: Self.unreserved, percent: false)
                + (item.value.map { "=" + Self.escaped($0, keeping: Self.unreserved, percent: false) } ?? "")
        }
        components.fragment = nil
        components.percentEncodedQuery = queries.isEmpty ? nil : queries.joined(separator: "&")
        guard let origin = Origin(components), let url = components.url else {
            throw HTTPTransportError(.invalidURL, "the request's path makes no URL of http or https with a host")
        }
        return (url, origin == self.origin)
    }

    /// Whether a path is a URL with a scheme of HTTP.
    private static func isWhole(_ path: String) -> Bool {
        let start = path.prefix(8).lowercased()
        return start.hasPrefix("http://") || start.hasPrefix("https://")
    }

    // Characters that stand for themselves (RFC 3986).
    private static let unreserved = Set("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~".utf8)
    private static let pathCharacters = unreserved.union("/!$&'()*+,;=:@".utf8)
    private static let queryCharacters = pathCharacters.union("?".utf8)
    private static let urlCharacters = queryCharacters.union("#[]".utf8)

    /// Escapes all other bytes.
    ///
    /// - Parameter percent: whether escaped characters stay as they are.
    private static func escaped(_ text: String, keeping kept: Set<UInt8>, percent: Bool = true) -> String {
        let bytes = Array(text.utf8)
        guard !bytes.allSatisfy(kept.contains) else { return text }
        var escaped = ""
        for (index, byte) in bytes.enumerated() {
            let isEscape =
                percent && byte == 0x25 && index + 2 < bytes.count && isHex(bytes[index + 1])
                && isHex(bytes[index + 2])
            if isEscape || kept.contains(byte) {
                escaped.unicodeScalars.append(Unicode.Scalar(byte))
            } else {
                let digits = String(byte, radix: 16, uppercase: true)
                escaped += digits.utf8.count < 2 ? "%0" + digits : "%" + digits
            }
        }
        return escaped
    }

    private static func isHex(_ byte: UInt8) -> Bool {
        (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
    }
}

/// The server that a URL belongs to: secrets for one are not for another.
struct Origin: Hashable, Sendable {
    private let scheme: String
    private let host: String
    private let port: Int

    /// `nil` for a URL that is not of HTTP, or has no host.
    init?(_ components: URLComponents) {
        guard let scheme = components.scheme?.lowercased(), scheme == "http" || scheme == "https",
            let host = components.host?.lowercased(), !host.isEmpty
        else { return nil }
        self.scheme = scheme
        self.host = host
        port = components.port ?? (scheme == "https" ? 443 : 80)
    }

    init?(_ url: URL?) {
        guard let url, let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return nil }
        self.init(components)
    }
}
