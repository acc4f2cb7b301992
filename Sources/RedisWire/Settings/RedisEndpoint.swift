/// The address of one server.
public enum RedisEndpoint: Sendable, Hashable, CustomStringConvertible {
    /// A name or a numeric address (IPv6 without brackets) and a port.
    case tcp(host: String, port: UInt16)
    /// The absolute path of a socket.
    case unix(path: String)

    /// The name or numeric address; empty for a socket of the file system.
    var host: String {
        if case .tcp(let host, _) = self { host } else { "" }
    }

    public var description: String {
        switch self {
        case .tcp(let host, let port): host.contains(":") ? "[\(host)]:\(port)" : "\(host):\(port)"
        case .unix(let path): "unix:\(path)"
        }
    }
}
