import RedisWire
import Testing

@Suite("URLs of servers")
struct URLTests {
    static func read(_ url: String) throws -> RedisSettings {
        try RedisURL(parameters: ["prefix", "lease"]).settings(of: url)
    }

    @Test(
        "Each form is read",
        arguments: [
            ("redis://localhost", "localhost:6379", false, false, 0), ("valkey://h:1/3", "h:1", false, false, 3),
            ("rediss://h", "h:6379", true, false, 0), ("valkeys://h", "h:6379", true, false, 0),
            ("redis+cluster://a:7000,b,[::1]:7002/", "a:7000 b:6379 [::1]:7002", false, true, 0),
            ("valkeys+cluster://a", "a:6379", true, true, 0),
            ("REDIS://[fe80::1%25eth0]", "[fe80::1%eth0]:6379", false, false, 0),
            ("redis+sentinel://a,b:1/mymaster/3", "a:26379 b:1", false, false, 3),
            ("rediss+sentinel://[::1]/m", "[::1]:26379", true, false, 0),
            ("unix:/run/a%20b.sock", "unix:/run/a b.sock", false, false, 0),
            ("unix:///run/r.sock?db=2", "unix:/run/r.sock", false, false, 2),
            ("valkey+unix://u:p@/run/r.sock", "unix:/run/r.sock", false, false, 0),
        ]
    )
    func forms(url: String, endpoints: String, tls: Bool, cluster: Bool, database: Int) throws {
        let settings = try Self.read(url)
        #expect(settings.endpoints.map(\.description).joined(separator: " ") == endpoints)
        #expect(settings.usesTLS == tls && settings.isCluster == cluster && settings.database == database)
    }

    @Test("Users, passwords and parameters are decoded")
    func parts() throws {
        let settings = try Self.read(
            "redis://ap%70:p%40s:%2Fs@h?prefix=shop%26co&timeout=500ms&connect_timeout=2s&client_name=x"
        )
        #expect(settings.credentials == RedisCredentials(user: "app", password: "p@s:/s"))
        #expect(settings.extras == ["prefix": "shop&co"])
        #expect(settings.timeouts.hard == .milliseconds(500) && settings.timeouts.soft == .milliseconds(500))
        #expect(settings.timeouts.connect == .seconds(2) && settings.clientName == "x")
        #expect(try Self.read("redis://:secret@h").credentials == RedisCredentials(user: nil, password: "secret"))
    }

    @Test(
        "A wrong URL is refused with the reason and without the password",
        arguments: [
            ("localhost", "scheme"), ("http://u:geheim@h", "unknown scheme"), ("redis:", "no host"),
            ("redis://", "no host"),
            ("redis://u:geheim@", "no host"), ("redis://geheim@h", "without a password"), ("redis://u:@h", "empty"),
            ("redis://u:geheim%@h", "hexadecimal"), ("redis://u:geheim%zz@h", "hexadecimal"),
            ("redis://u:%ff@h", "UTF-8"),
            ("redis://h:0", "port"), ("redis://h:65536", "port"), ("redis://h:+1", "port"), ("redis://h:", "port"),
            ("redis://::1", "brackets"), ("redis://[::1", "]"), ("redis://[host]", "IPv6"),
            ("redis://a,,b", "empty host"),
            ("redis://h/x", "database"), ("redis://h/-1", "database"), ("redis+cluster://h/1", "cluster"),
            ("redis://h?colour=red", "unknown parameter “colour”"), ("redis://h?prefix", "="),
            ("redis://h?prefix=a&prefix=b", "twice"), ("redis://h?timeout=5", "duration"),
            ("redis://h?timeout=0s", "duration"),
            ("redis://h?timeout=1s&soft_timeout=2s", "longer"), ("unix:relative", "absolute"),
            ("unix://h/p", "no host"),
            ("unix:/" + String(repeating: "a", count: 103), "103"), ("redis://u:ge#heim@h", "%23"),
            ("redis://u:ge heim@h", "U+20"),
            ("redis://h?tls_ca=a", "for rediss"), ("unix:/p?tls_insecure=true", "for rediss"),
            ("rediss://h?tls_colour=a", "unknown"), ("rediss://h?tls_ca=", "empty"),
            ("rediss://h?tls_key=a", "tls_key"),
            ("rediss://h?tls_insecure=false", "left out"), ("rediss://h?tls_insecure=true&tls_ca=a", "compared"),
            ("rediss://u:geheim@h?tls_key=a", "tls_key"), ("unix://u:geheim@h/p", "no host"),
            ("rediss+cluster://u:geheim@h/1", "cluster"),
            ("redis+sentinel://h", "no master"), ("redis+sentinel://u:geheim@h/", "no master"),
            ("redis+sentinel://h/m/x", "database"), ("redis://h?sentinel_password=geheim", "unknown parameter"),
            ("redis+sentinel://h/m?sentinel_user=geheim", "sentinel_password"),
            ("redis+sentinel://h/m?sentinel_password=", "not empty"),
            // A part of the password is not a name of something else.
            ("redis://u:1/geheim@h", "%40"), ("redis://u:1?geheim=1@h", "%40"), ("redis://u:p@1?geheim=1@h", "%40"),
            ("rediss://u:p@1:2/geheim@h", "%40"), ("unix://u:1?geheim=1@/p", "%40"),
            ("rediss+unix:/p", "scheme"), ("redis+magic://h", "scheme"), ("redis://h?client_name=a%20b", "ASCII"),
        ]
    )
    func refused(url: String, reason: String) {
        let error = #expect(throws: RedisURLError.self) { try Self.read(url) }
        #expect(error?.description.contains(reason) == true, "\(String(describing: error))")
        #expect(error?.description.contains("heim") != true)
    }

    @Test(
        "An unknown parameter's error lists those that the scheme takes",
        arguments: [
            ("redis://h?colour=red", "client_name, connect_timeout, lease, prefix, soft_timeout, timeout."),
            ("redis://h?db=2", "client_name, connect_timeout, lease, prefix, soft_timeout, timeout."),
            ("unix:/p?colour=red", "client_name, connect_timeout, db, lease, prefix, soft_timeout, timeout."),
            ("redis+sentinel://h/m?a=b", "prefix, sentinel_password, sentinel_user, soft_timeout, timeout."),
            ("rediss://h?colour=red", "timeout, tls_ca, tls_certificate, tls_insecure, tls_key, tls_server_name."),
        ]
    )
    func knownParameters(url: String, names: String) {
        let error = #expect(throws: RedisURLError.self) { try Self.read(url) }
        #expect(error?.description.hasSuffix(names) == true, "\(String(describing: error))")
    }

    @Test("Sentinels have credentials of their own")
    func sentinels() throws {
        let plain = try Self.read("redis+sentinel://app:one@h/my%20master")
        #expect(plain.sentinels == RedisSentinels(master: "my master"))
        #expect(plain.credentials == RedisCredentials(user: "app", password: "one"))
        let settings = try Self.read("redis+sentinel://h/m?sentinel_password=t%40wo&sentinel_user=eye")
        let credentials = RedisCredentials(user: "eye", password: "t@wo")
        #expect(settings.sentinels == RedisSentinels(master: "m", credentials: credentials))
        #expect(settings.credentials == nil)
    }

    @Test("Files and names of TLS are read")
    func encryption() throws {
        let parameters = "tls_ca=/etc/a%20b.pem&tls_certificate=c&tls_key=k&tls_server_name=n"
        let tls = try Self.read("rediss://h?" + parameters).tls
        #expect(tls.authorities == "/etc/a b.pem" && tls.certificate == "c" && tls.key == "k")
        #expect(tls.serverName == "n" && !tls.isUnverified)
        #expect(try Self.read("valkeys://h").tls == RedisTLSSettings())
        #expect(try Self.read("rediss+cluster://h?tls_insecure=true").tls.isUnverified)
    }

    @Test("Settings can be printed without giving the password away")
    func printing() throws {
        let settings = try Self.read("redis+sentinel://user:geheim@h/m?sentinel_password=geheim")
        var dumped = ""
        dump(settings, to: &dumped)
        for text in ["\(settings)", String(reflecting: settings), dumped] { #expect(!text.contains("geheim")) }
    }

    @Test("Pauses double up to the longest, and differ by the jitter")
    func backoff() {
        var generator = SystemRandomNumberGenerator()
        let backoff = RedisBackoff()
        for failures in [1, 2, 3, 8, 100, Int.max] {
            let pause = backoff.pause(afterFailures: failures, using: &generator)
            let middle = min(Duration.milliseconds(50) * (1 << min(failures - 1, 20)), .seconds(5))
            #expect(pause >= middle * 0.79 && pause <= middle * 1.21)
        }
    }
}
