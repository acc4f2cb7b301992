import TypedCache

/// How a shared tier behaves. Addresses and credentials are in its URL, which may have other timeouts, too.
///
/// ```swift
/// var settings = SharedSettings()
/// settings.whenUnreachable.serve = .seconds(60)
/// settings.loads = .oncePerFleet(lease: .seconds(5))
/// ```
public struct SharedSettings: Sendable, Equatable {
    /// How long calls wait for the server.
    public var timeouts: Timeouts
    /// How the tier checks that the server is alive.
    public var heartbeat: Heartbeat
    /// When calls stop waiting for a server that does not answer.
    public var breaker: Breaker
    /// The values that fetches may return while the server does not answer.
    public var whenUnreachable: Outage
    /// How memory learns of changes by other machines.
    public var coherence: Coherence
    /// Among which fetches one producer runs.
    public var loads: Loads
    /// The copies of a save that are waited for.
    public var replicas: Replicas
    /// The servers that fetches read from; `.primary` by default.
    public var reads: Reads
    /// How entries are compressed; `.automatic` by default. Applies to saves from now on: any setting reads every entry.
    public var compression: Compression
    /// Whether values are encrypted before they are sent, and with which keys; `.none` by default. See
    /// <doc:EncryptedValues>.
    ///
    /// The keys are asked for when a cache is opened, which blocks and may throw `.locked`, and when a value has a key that was
    /// not among them. Copies on a near disk are encrypted by their own settings: see ``NearStorage``.
    public var encryption: DiskSettings.Encryption

    /// Makes settings.
    ///
    /// - Parameters:
    ///   - timeouts: see ``timeouts``.
    ///   - heartbeat: see ``heartbeat``.
    ///   - breaker: see ``breaker``.
    ///   - whenUnreachable: see ``whenUnreachable``.
    ///   - coherence: see ``coherence``.
    ///   - loads: see ``loads``.
    ///   - replicas: see ``replicas``.
    ///   - reads: see ``reads``.
    ///   - compression: see ``compression``.
    ///   - encryption: see ``encryption``.
    public init(
        timeouts: Timeouts = Timeouts(),
        heartbeat: Heartbeat = Heartbeat(),
        breaker: Breaker = Breaker(),
        whenUnreachable: Outage = Outage(),
        coherence: Coherence = .invalidated,
        loads: Loads = .oncePerFleet(lease: .seconds(10)),
        replicas: Replicas = .none,
        reads: Reads = .primary,
        compression: Compression = .automatic,
        encryption: DiskSettings.Encryption = .none
    ) {
        self.timeouts = timeouts
        self.heartbeat = heartbeat
        self.breaker = breaker
        self.whenUnreachable = whenUnreachable
        self.coherence = coherence
        self.loads = loads
        self.replicas = replicas
        self.reads = reads
        self.compression = compression
        self.encryption = encryption
    }

    /// The settings that a tier takes: values beyond their bounds become the nearest allowed value, since each may be
    /// set after it was made.
    var withinBounds: SharedSettings {
        var settings = self
        settings.timeouts = Timeouts(connect: timeouts.connect, soft: timeouts.soft, hard: timeouts.hard)
        settings.heartbeat = Heartbeat(interval: heartbeat.interval, deadline: heartbeat.deadline)
        settings.breaker = Breaker(
            failures: breaker.failures,
            pause: breaker.pause,
            longestPause: breaker.longestPause
        )
        settings.whenUnreachable = Outage(serve: whenUnreachable.serve, keep: whenUnreachable.keep)
        return settings
    }

    /// How long calls wait for the server. The parameters `connect_timeout`, `soft_timeout` and `timeout` of a URL take
    /// the place of these.
    public struct Timeouts: Sendable, Equatable {
        /// Until a connection is made; 1 s by default.
        public var connect: Duration
        /// Until a fetch that has a producer goes on without the server; 50 ms by default, at most ``hard``. Longer where the
        /// server's answers usually take longer than a quarter of that: four times their median, at most ``hard``; and as long
        /// as ``hard`` before the first answer.
        public var soft: Duration
        /// Until any other call throws `.unreachable`; 500 ms by default.
        public var hard: Duration

        /// Makes timeouts of at least 1 ms; a soft one longer than the hard one becomes that.
        public init(
            connect: Duration = .seconds(1),
            soft: Duration = .milliseconds(50),
            hard: Duration = .milliseconds(500)
        ) {
            self.connect = max(connect, .milliseconds(1))
            self.hard = max(hard, .milliseconds(1))
            self.soft = min(max(soft, .milliseconds(1)), self.hard)
        }
    }

    /// How the tier checks that the server is alive. Interval and deadline together are the bound of staleness: no
    /// fetch returns a value from memory that another machine replaced or removed longer ago, even if connections
    /// fail.
    public struct Heartbeat: Sendable, Equatable {
        /// How often the tier sends a heartbeat while it is connected; 1 s by default, at least 10 ms.
        public var interval: Duration
        /// How long after the time for a heartbeat memory may go on answering without one; 1 s by default.
        public var deadline: Duration

        /// Makes a heartbeat; an interval below 10 ms becomes 10 ms, a negative deadline zero.
        public init(interval: Duration = .seconds(1), deadline: Duration = .seconds(1)) {
            self.interval = max(interval, .milliseconds(10))
            self.deadline = max(deadline, .zero)
        }

        /// How long after a heartbeat was sent memory may answer.
        var window: Duration { interval + deadline }
    }

    /// When calls stop waiting for a server that does not answer. While the breaker is open, they fail at once with
    /// `.unreachable`.
    public struct Breaker: Sendable, Equatable {
        /// The calls in a row without an answer that open the breaker; 5 by default, at least 1.
        public var failures: Int
        /// The pause after the breaker opens; 1 s by default, doubled each time the server still does not answer. A
        /// heartbeat that is answered after a pause closes the breaker, and so does the answer to the one call that is let
        /// through after each pause.
        public var pause: Duration
        /// The longest pause; 30 s by default. Pauses are up to a fifth longer or shorter by chance, so that
        /// machines do not come together.
        public var longestPause: Duration

        /// Makes a breaker that opens after at least one failure and pauses for at least 1 ms.
        public init(failures: Int = 5, pause: Duration = .seconds(1), longestPause: Duration = .seconds(30)) {
            self.failures = max(failures, 1)
            self.pause = max(pause, .milliseconds(1))
            self.longestPause = max(longestPause, self.pause)
        }
    }

    /// The values that fetches may return while the server does not answer. The larger of these and of the
    /// heartbeat's bound is the bound of staleness then.
    public struct Outage: Sendable, Equatable {
        /// How long after the last heartbeat memory may answer with entries that it cannot compare with the server's;
        /// zero by default: not at all.
        public var serve: Duration
        /// How long memory keeps values that producers give, and that cannot be saved; 5 s by default. So a producer
        /// runs once in that time for each key and process.
        public var keep: Duration

        /// Makes the rules of an outage; negative durations count as zero.
        public init(serve: Duration = .zero, keep: Duration = .seconds(5)) {
            self.serve = max(serve, .zero)
            self.keep = max(keep, .zero)
        }
    }

    /// How memory learns of changes by other machines.
    public struct Coherence: Sendable, Equatable {
        /// `nil`: the server tells of them.
        let age: Duration?

        /// The server tells of each change. It sends one message for each change and machine: up to about 150,000 in a
        /// second from one server.
        public static let invalidated = Coherence(age: nil)

        /// The server tells of nothing. An entry in memory is compared with the server's when it is used after so long,
        /// which is the bound of staleness then.
        ///
        /// - Parameter age: at least 1 ms.
        public static func age(_ age: Duration) -> Coherence { Coherence(age: max(age, .milliseconds(1))) }
    }

    /// Among which fetches of a missing key one producer runs.
    public struct Loads: Sendable, Equatable {
        /// `nil`: each process loads by itself.
        let lease: Duration?

        /// Those of all machines: one has the key's lease and runs its producer, and extends the lease in the meantime;
        /// the other loads wait for the value that it saves. A load that has waited for a lease's time runs its own
        /// producer, and so does each while the server does not answer; their values are returned, but not saved.
        ///
        /// - Parameter lease: how long a load has the lease after its process has died; at least 10 ms.
        public static func oncePerFleet(lease: Duration) -> Loads { Loads(lease: max(lease, .milliseconds(10))) }

        /// Those of one process. A value that was loaded while another machine changed the entry may take the place of
        /// that change.
        public static let oncePerProcess = Loads(lease: nil)
    }

    /// The copies of a save that are waited for.
    public struct Replicas: Sendable, Equatable {
        let count: Int
        let timeout: Duration

        /// None: an acknowledged save is on the one server, and a failover may lose it.
        public static let none = Replicas(count: 0, timeout: .zero)

        /// A change is acknowledged once so many replicas have it too (`WAIT`), and has failed with `.unreachable`
        /// otherwise. Lowers the chance that a failover loses it; the server answers other calls of this machine only
        /// afterwards.
        ///
        /// - Parameters:
        ///   - count: at least 1.
        ///   - timeout: until the change has failed; at least 1 ms, and added to the timeouts of calls.
        public static func wait(_ count: Int, _ timeout: Duration) -> Replicas {
            Replicas(count: max(count, 1), timeout: max(timeout, .milliseconds(1)))
        }
    }
}
