/// Reads settings from a URL.
///
/// ```
/// redis://[[user]:password@]host[:port][,host[:port]…][/database][?name=value[&…]]
/// redis+sentinel://[[user]:password@]host[:port][,host[:port]…]/master[/database][?name=value[&…]]
/// unix:[//[user[:password]@]]/path/of.sock[?db=2]
/// ```
///
/// Schemes: `redis`, `rediss` (TLS), `redis+cluster`, `rediss+cluster`, `redis+sentinel`, `rediss+sentinel`, `redis+unix`,
/// `unix`, and `valkey` in place of `redis` in each. Parameters: `db` (of a socket), `client_name`, `timeout`, `soft_timeout`, `connect_timeout`
/// (such as `500ms` or `2s`), and the caller's own. With TLS, `tls_ca` (a file of authorities, in place of the
/// system's), `tls_certificate` and `tls_key` (files, for servers that demand a client's certificate), `tls_server_name`
/// (the name in the server's certificate, if it is not the host), and `tls_insecure=true`, which takes any certificate.
/// With sentinels, whose own port is 26379, `sentinel_user` and `sentinel_password` are theirs, and the user before the hosts
/// is the master's.
package struct RedisURL {
    private let allowed: Set<String>
    private let timeouts: RedisTimeouts

    /// - Parameters:
    ///   - parameters: the caller's own parameters, which are put into ``RedisSettings/extras``.
    ///   - timeouts: for a URL without timeouts.
    package init(parameters: Set<String> = [], timeouts: RedisTimeouts = RedisTimeouts()) {
        allowed = parameters
        self.timeouts = timeouts
    }

    /// - Throws: ``RedisURLError``, which never has the password in it.
    package func settings(of url: String) throws(RedisURLError) -> RedisSettings {
        let parts = try URLParts(url)
        var settings = RedisSettings(endpoints: [])
        settings.timeouts = timeouts
        settings.usesTLS = parts.scheme.usesTLS
        settings.isCluster = parts.scheme.isCluster
        settings.credentials = try parts.credentials.map(credentials)
        if parts.scheme.isUnix {
            if parts.hosts?.isEmpty == false {
                throw RedisURLError("a socket has no host; write unix:/path/of.sock")
            }
            let path = try decode(parts.path, "path")
            guard path.hasPrefix("/"), path.count > 1 else {
                throw RedisURLError("a socket needs an absolute path")
            }
            // The least room for a path in sockaddr_un, on Apple's systems, with the zero at the end.
            if path.utf8.count > 103 { throw RedisURLError("a socket's path has at most 103 bytes") }
            settings.endpoints = [.unix(path: path)]
        } else {
            guard let hosts = parts.hosts, !hosts.isEmpty else {
                throw RedisURLError("no host; write \(parts.scheme.name)://host:6379")
            }
            for host in hosts.split(separator: ",", omittingEmptySubsequences: false) {
                settings.endpoints.append(try endpoint(host, usualPort: parts.scheme.isSentinel ? 26379 : 6379))
            }
            var database = parts.path.dropFirst()
            if parts.scheme.isSentinel {
                let master = try decode(database.prefix { $0 != "/" }, "master")
                if master.isEmpty {
                    throw RedisURLError("no master; write \(parts.scheme.name)://host:26379/mymaster")
                }
                settings.sentinels = RedisSentinels(master: master)
                database = database.drop { $0 != "/" }.dropFirst()
            }
            if !database.isEmpty { settings.database = try self.database(database) }
        }
        try read(parts.query, of: parts.scheme, into: &settings)
        if settings.isCluster, settings.database != 0 { throw RedisURLError("a cluster has only database 0") }
        return settings
    }

    // MARK: - Parts

    private func credentials(_ text: Substring) throws(RedisURLError) -> RedisCredentials {
        guard let colon = text.firstIndex(of: ":") else {
            throw RedisURLError("a user without a password; write user:password@host, or :password@host")
        }
        let user = try decode(text[..<colon], "user")
        let password = try decode(text[text.index(after: colon)...], "password")
        if password.isEmpty { throw RedisURLError("the password is empty") }
        return RedisCredentials(user: user.isEmpty ? nil : user, password: password)
    }

    private func endpoint(_ text: Substring, usualPort: UInt16) throws(RedisURLError) -> RedisEndpoint {
        if text.hasPrefix("[") {
            guard let end = text.firstIndex(of: "]") else { throw RedisURLError("an IPv6 address without its “]”") }
            let host = try decode(text[text.index(after: text.startIndex)..<end], "host")
            guard host.contains(":"), host.allSatisfy({ $0.isHexDigit || ":.%".contains($0) || host.contains("%") })
            else { throw RedisURLError("“[\(host)]” is not an IPv6 address") }
            return .tcp(host: host, port: try port(text[text.index(after: end)...]) ?? usualPort)
        }
        let colon = text.firstIndex(of: ":") ?? text.endIndex
        let host = try decode(text[..<colon], "host")
        if text[colon...].dropFirst().contains(":") {
            throw RedisURLError("an IPv6 address must be in brackets: [::1]:6379")
        }
        if host.isEmpty { throw RedisURLError("an empty host between commas or before a port") }
        return .tcp(host: host, port: try port(text[colon...]) ?? usualPort)
    }

    /// The port after its colon; `nil` without one.
    private func port(_ text: Substring) throws(RedisURLError) -> UInt16? {
        if text.isEmpty { return nil }
        guard text.first == ":", text.dropFirst().allSatisfy(\.isASCII), let port = UInt16(text.dropFirst()),
            port > 0,
            text.dropFirst().first?.isNumber == true
        else { throw RedisURLError("a port is a number from 1 to 65535") }
        return port
    }

    private func database(_ text: Substring) throws(RedisURLError) -> Int {
        guard text.allSatisfy({ ("0"..."9").contains($0) }), let number = Int(text), number <= Int(Int32.max) else {
            throw RedisURLError("a database is a number from 0")
        }
        return number
    }

    private func read(
        _ query: Substring,
        of scheme: Scheme,
        into settings: inout RedisSettings
    ) throws(RedisURLError) {
        var seen: Set<String> = []
        var sentinelUser: String?
        var sentinelPassword: String?
        for item in query.split(separator: "&") {
            guard let equals = item.firstIndex(of: "=") else {
                throw RedisURLError("a parameter without “=”")
            }
            let name = try decode(item[..<equals], "parameter")
            let value = try decode(item[item.index(after: equals)...], "parameter")
            if !seen.insert(name).inserted { throw RedisURLError("the parameter “\(name)” comes twice") }
            if allowed.contains(name) {
                settings.extras[name] = value
                continue
            }
            guard let parameter = URLParameter(rawValue: name), parameter != .database || scheme.isUnix,
                !parameter.isOfSentinels || scheme.isSentinel
            else { throw unknown(name, of: scheme) }
            if parameter.isOfTLS {
                guard scheme.usesTLS else { throw RedisURLError("\(name) is for rediss and valkeys") }
                if value.isEmpty { throw RedisURLError("\(name) is empty") }
            }
            switch parameter {
            case .clientName:
                guard !value.isEmpty, value.utf8.allSatisfy({ (0x21...0x7E).contains($0) }) else {
                    throw RedisURLError("client_name is printable ASCII without spaces")
                }
                settings.clientName = value
            case .connectTimeout: settings.timeouts.connect = try duration(value, of: name)
            case .softTimeout: settings.timeouts.soft = try duration(value, of: name)
            case .timeout: settings.timeouts.hard = try duration(value, of: name)
            case .database: settings.database = try database(value[...])
            case .sentinelUser: sentinelUser = value
            case .sentinelPassword: sentinelPassword = value
            case .authorities: settings.tls.authorities = value
            case .certificate: settings.tls.certificate = value
            case .key: settings.tls.key = value
            case .serverName: settings.tls.serverName = value
            case .isUnverified:
                guard value == "true" else { throw RedisURLError("tls_insecure is true, or left out") }
                settings.tls.isUnverified = true
            }
        }
        if let sentinelPassword, !sentinelPassword.isEmpty {
            settings.sentinels?.credentials = RedisCredentials(user: sentinelUser, password: sentinelPassword)
        } else if sentinelUser != nil || sentinelPassword != nil {
            throw RedisURLError(
                "sentinels have no password; sentinel_user is for a sentinel_password that is not empty"
            )
        }
        if settings.tls.key != nil, settings.tls.certificate == nil {
            throw RedisURLError("tls_key is for a tls_certificate")
        }
        if settings.tls.isUnverified, settings.tls.authorities != nil || settings.tls.serverName != nil {
            throw RedisURLError("with tls_insecure no certificate is compared with tls_ca and tls_server_name")
        }
        if !seen.contains(URLParameter.softTimeout.rawValue) {
            settings.timeouts.soft = min(settings.timeouts.soft, settings.timeouts.hard)
        } else if settings.timeouts.soft > settings.timeouts.hard {
            throw RedisURLError("soft_timeout is longer than timeout")
        }
    }

    /// - Returns: an error that lists the parameters for URLs of the scheme.
    private func unknown(_ name: String, of scheme: Scheme) -> RedisURLError {
        let known = URLParameter.allCases.filter { parameter in
            if parameter == .database { return scheme.isUnix }
            return (!parameter.isOfTLS || scheme.usesTLS) && (!parameter.isOfSentinels || scheme.isSentinel)
        }
        let names = allowed.union(known.map(\.rawValue)).sorted()
        return RedisURLError("unknown parameter “\(name)”; known are \(names.joined(separator: ", "))")
    }

    private func duration(_ text: String, of name: String) throws(RedisURLError) -> Duration {
        let digits = text.prefix { ("0"..."9").contains($0) }
        if let number = Int(digits), number > 0, number <= 1_000_000_000 {
            switch text.dropFirst(digits.count) {
            case "ms": return .milliseconds(number)
            case "s": return .seconds(number)
            default: break
            }
        }
        throw RedisURLError("\(name) is a duration such as 500ms or 2s")
    }

    /// - Parameter part: the name of the part, for a message without its content.
    private func decode(_ text: Substring, _ part: String) throws(RedisURLError) -> String {
        guard let bytes = PercentEncoding.decoded(text) else {
            throw RedisURLError("in the \(part) “%” is not followed by two hexadecimal digits; write %25 for “%”")
        }
        guard !bytes.contains(0), let decoded = String(validating: bytes, as: UTF8.self) else {
            throw RedisURLError("the \(part) is not UTF-8, or has a zero in it")
        }
        return decoded
    }
}

/// The fault of a URL, in words without its password.
package struct RedisURLError: Error, Sendable, Equatable, CustomStringConvertible {
    package let message: String

    package init(_ message: String) { self.message = message }

    package var description: String { "The Redis URL cannot be used: \(message)." }
}

/// The parameters of URLs, apart from the caller's own.
private enum URLParameter: String, CaseIterable {
    case clientName = "client_name"
    case connectTimeout = "connect_timeout"
    case softTimeout = "soft_timeout"
    case timeout
    /// For sockets alone: other URLs have the database in their path.
    case database = "db"
    case sentinelUser = "sentinel_user"
    case sentinelPassword = "sentinel_password"
    case authorities = "tls_ca"
    case certificate = "tls_certificate"
    case key = "tls_key"
    case serverName = "tls_server_name"
    case isUnverified = "tls_insecure"

    var isOfTLS: Bool { rawValue.hasPrefix("tls_") }
    var isOfSentinels: Bool { rawValue.hasPrefix("sentinel_") }
}

/// The text of a URL, cut into its parts; only the scheme is read.
private struct URLParts {
    let scheme: Scheme
    let credentials: Substring?
    /// Hosts and ports; `nil` where no “//” precedes them.
    let hosts: Substring?
    let path: Substring
    let query: Substring

    init(_ url: String) throws(RedisURLError) {
        guard let colon = url.firstIndex(of: ":") else {
            throw RedisURLError("no scheme; a URL begins as redis://host:6379 does")
        }
        scheme = try Scheme(url[..<colon])
        var rest = url[url.index(after: colon)...]
        if rest.contains("#") { throw RedisURLError("“#” must be written as %23") }
        if let bad = rest.unicodeScalars.first(where: { $0.value <= 0x20 || $0.value == 0x7F }) {
            throw RedisURLError(
                "the character U+\(String(bad.value, radix: 16, uppercase: true)) must be percent-encoded"
            )
        }
        let mark = rest.firstIndex(of: "?") ?? rest.endIndex
        query = rest[mark...].dropFirst()
        rest = rest[..<mark]
        var authority: Substring?
        if rest.hasPrefix("//") {
            rest = rest.dropFirst(2)
            let end = rest.firstIndex(of: "/") ?? rest.endIndex
            authority = rest[..<end]
            rest = rest[end...]
        }
        path = rest
        // It would end a password that is not encoded: the text before it must not be taken, and shown, as another part.
        if query.contains("@") || !scheme.isUnix && path.contains("@") {
            throw RedisURLError(
                "“@” behind the host must be written as %40; in a password “/” as %2F and “?” as %3F, too"
            )
        }
        if let authority, let at = authority.lastIndex(of: "@") {
            credentials = authority[..<at]
            hosts = authority[authority.index(after: at)...]
        } else {
            credentials = nil
            hosts = authority
        }
    }
}

private struct Scheme {
    let name: Substring
    let usesTLS: Bool
    let isCluster: Bool
    let isSentinel: Bool
    let isUnix: Bool

    init(_ name: Substring) throws(RedisURLError) {
        self.name = name
        let parts = name.lowercased().split(separator: "+", omittingEmptySubsequences: false)
        let kind = parts.count == 2 ? parts[1] : ""
        let base = parts[0]
        usesTLS = base == "rediss" || base == "valkeys"
        isCluster = kind == "cluster"
        isSentinel = kind == "sentinel"
        isUnix = kind == "unix" || name.lowercased() == "unix"
        let isKnown =
            parts.count <= 2 && (parts.count == 1 || isCluster || isSentinel || isUnix && !usesTLS)
            && (usesTLS || base == "redis" || base == "valkey" || parts == ["unix"])
        if !isKnown {
            throw RedisURLError(
                "unknown scheme; known are redis, rediss, redis+cluster, rediss+cluster, redis+sentinel, rediss+sentinel, redis+unix, unix, and valkey for redis"
            )
        }
    }
}
