/// The way to a server: its addresses, and the certificates and credentials to connect with.
struct ConnectionRoute: Sendable {
    /// The server's name or numeric address, which its certificate must have.
    let host: String
    let addresses: [SocketAddress]
    /// `nil` without TLS.
    let security: TLSContext?
    let credentials: RedisCredentials?

    /// Asks sentinels and the provider of credentials, resolves the server's name and reads the files of certificates: blocks.
    ///
    /// - Parameter endpoint: the server, unless sentinels are asked for it.
    init(
        to endpoint: RedisEndpoint,
        _ settings: RedisSettings,
        _ addresses: RedisChannel.Addresses
    ) throws(SocketError) {
        security = settings.usesTLS ? try TLSContexts.context(for: settings.tls) : nil
        let server = try settings.sentinels?.locate(settings) ?? endpoint
        host = server.host
        self.addresses = try addresses(server)
        credentials = try settings.credentialsProvider?.credentials() ?? settings.credentials
    }
}
