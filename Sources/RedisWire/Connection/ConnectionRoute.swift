/// The ways to a server: its addresses, and the certificates to connect with.
struct ConnectionRoute: Sendable {
    let addresses: [SocketAddress]
    /// `nil` without TLS.
    let security: TLSContext?

    /// Resolves the server's name and reads the files of certificates, which blocks.
    init(
        to endpoint: RedisEndpoint,
        _ tls: RedisTLSSettings?,
        _ addresses: RedisChannel.Addresses
    ) throws(SocketError) {
        security = try tls.map { tls throws(SocketError) in try TLSContexts.context(for: tls) }
        self.addresses = try addresses(endpoint)
    }
}
