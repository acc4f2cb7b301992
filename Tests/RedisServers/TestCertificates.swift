import Foundation
import TestSupport

/// An authority, and certificates by it, made by the command `openssl`.
package struct TestCertificates {
    package struct Certificate: Sendable {
        package let path: String
        package let key: String
    }

    package static let canBeMade = executable != nil

    private static let executable: URL? =
        ["/usr/bin/", "/usr/local/bin/", "/opt/homebrew/bin/"].map { $0 + "openssl" }
        .first { FileManager.default.isExecutableFile(atPath: $0) }.map { URL(filePath: $0) }

    /// The names by which tests reach a server on this machine.
    package static let names = "DNS:localhost,IP:127.0.0.1"

    private let directory = TestDirectory()
    package let authority: Certificate

    package init() throws {
        try FileManager.default.createDirectory(at: directory.url, withIntermediateDirectories: true)
        authority = Self.certificate("authority", in: directory)
        try Self.openssl(
            Self.newKey("-x509") + ["-keyout", authority.key, "-out", authority.path, "-days", "2"]
                + ["-subj", "/CN=authority", "-addext", "basicConstraints=critical,CA:TRUE"]
        )
    }

    /// Makes a certificate by this authority.
    ///
    /// - Parameters:
    ///   - names: alternative names, as OpenSSL writes them.
    ///   - days: how long it is valid; one of less than none has expired.
    package func make(
        _ name: String,
        names: String = TestCertificates.names,
        days: Int = 2
    ) throws -> Certificate {
        let new = Self.certificate(name, in: directory)
        let (request, extensions) = (path(name + ".csr"), path(name + ".ext"))
        try Data("subjectAltName=\(names)\n".utf8).write(to: URL(filePath: extensions))
        try Self.openssl(Self.newKey() + ["-keyout", new.key, "-out", request, "-subj", "/CN=localhost"])
        try Self.openssl(
            ["x509", "-req", "-in", request, "-out", new.path, "-days", "\(days)", "-extfile", extensions]
                + ["-CA", authority.path, "-CAkey", authority.key, "-CAcreateserial"]
        )
        return new
    }

    /// A copy of a key that needs a passphrase.
    package func locked(_ certificate: Certificate) throws -> Certificate {
        let key = certificate.key + ".locked"
        try Self.openssl(["pkey", "-in", certificate.key, "-out", key, "-aes256", "-passout", "pass:geheim"])
        return Certificate(path: certificate.path, key: key)
    }

    package func path(_ name: String) -> String { directory.url.appending(path: name).path }

    private static func certificate(_ name: String, in directory: TestDirectory) -> Certificate {
        let path = directory.url.appending(path: name).path
        return Certificate(path: path + ".pem", key: path + ".key")
    }

    private static func newKey(_ more: String...) -> [String] {
        ["req"] + more + ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
    }

    private static func openssl(_ arguments: [String]) throws {
        let process = Process()
        process.executableURL = executable
        process.arguments = arguments
        process.standardInput = FileHandle.nullDevice
        process.standardOutput = FileHandle.nullDevice
        process.standardError = FileHandle.nullDevice
        try process.start()
        process.waitUntilExit()
        if process.terminationStatus != 0 { throw Failure(arguments: arguments) }
    }

    package struct Failure: Error { let arguments: [String] }
}
