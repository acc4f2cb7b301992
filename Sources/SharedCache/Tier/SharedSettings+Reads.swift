import RedisWire

extension SharedSettings {
    /// The servers that fetches read from.
    public struct Reads: Sendable, Equatable {
        enum Kind: Equatable, Sendable {
            case primary
            case replicas([String])
        }

        let kind: Kind

        /// The server of the URL, or the masters of a cluster.
        public static let primary = Reads(kind: .primary)

        /// Replicas, if memory has no entry: for caches whose values may be older. Fetches that suspend read from
        /// them, and ask the primary if a replica has no fresh entry, does not answer, or is not connected with the
        /// primary. All else goes to the primary: changes, leases, comparisons, `.latest`, blocking fetches, and
        /// caches with a near disk.
        ///
        /// The guarantees of a fetch are weaker then: see <doc:SharedGuarantees>. Needs ``Coherence/invalidated``.
        ///
        /// - Parameter hosts: `host` or `host:port` of each replica; with the user, database and encryption of the URL. Of a
        ///   cluster none: it names them itself.
        public static func replicas(_ hosts: [String] = []) -> Reads { Reads(kind: .replicas(hosts)) }
    }
}

extension SharedSettings.Reads {
    /// Reads from the replicas of a tier's client; `nil` for the primary.
    ///
    /// - Parameters:
    ///   - wire: the settings of the client.
    ///   - settings: of the tier.
    /// - Throws: `.unsupported` for settings that do not fit the client.
    func reader(
        of client: any TierClient,
        _ wire: RedisSettings,
        _ settings: SharedSettings
    ) throws(RedisError) -> ReplicaReader? {
        guard case .replicas(let hosts) = kind else { return nil }
        guard settings.coherence == .invalidated else {
            throw RedisError(
                .unsupported,
                "Replicas can be read from where the server tells of changes, not by age."
            )
        }
        let pause = settings.heartbeat.interval
        if let cluster = client as? TrackedCluster {
            if hosts.isEmpty { return cluster.replicas(askedEach: pause) }
            throw RedisError(.unsupported, "A cluster names its replicas itself, and the settings name others.")
        }
        if hosts.isEmpty {
            throw RedisError(.unsupported, "The settings name no replicas; only a cluster names them itself.")
        }
        var endpoints: [RedisEndpoint] = []
        for host in hosts {
            do throws(RedisURLError) {
                endpoints += try RedisURL().settings(of: "redis://\(host)").endpoints
            } catch {
                throw RedisError(.unsupported, "A replica is not one host: \(error.message).")
            }
        }
        return ReplicaReader(at: endpoints, settings: wire, askedEach: pause)
    }
}
