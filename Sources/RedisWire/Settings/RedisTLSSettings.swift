/// How connections are encrypted if ``RedisSettings/usesTLS`` asks for it: by TLS 1.2 or later. Files are PEM, and are
/// read again for connections that are made more than a minute later.
package struct RedisTLSSettings: Sendable, Hashable {
    /// The path of certificates of authorities: servers must have a certificate by one of them. `nil` for the authorities
    /// that the system trusts.
    package var authorities: String?
    /// The path of the client's certificate, with those between it and its authority after it; `nil` for none.
    package var certificate: String?
    /// The path of the certificate's private key, without a passphrase; `nil` if it is in the certificate's file.
    package var key: String?
    /// The name that a server's certificate must have; `nil` for the name or the numeric address of the endpoint.
    package var serverName: String?
    /// Whether any certificate is taken, so that each machine on the way can read and change everything.
    package var isUnverified = false

    package init() {}

    /// Whether this build can encrypt.
    package static var isSupported: Bool {
        #if TLS
            true
        #else
            false
        #endif
    }

    static let unsupported =
        "this build has no TLS: enable the trait TLS of the package typed-cache"
}
