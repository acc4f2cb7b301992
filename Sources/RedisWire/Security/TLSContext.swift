#if TLS
    import COpenSSL
    import Foundation

    /// Certificates and rules of connections, by the system's OpenSSL.
    ///
    /// Unsafe code, and why it is sound: pointers of OpenSSL's objects are private to this file. A context is changed by its
    /// initializer alone, and counts its users with OpenSSL's own locks, so that threads may share it; a session is used by
    /// the one thread that has its connection. Each object is freed once, by the `deinit` of its owner; the two buffers
    /// (`BIO`) belong to the session from `SSL_set_bio` on. OpenSSL copies the bytes and names that it is given before a
    /// call returns, and writes at most as many bytes into a buffer as the call says. It gets no pointer to anything of
    /// Swift's that outlives a call.
    final class TLSContext: @unchecked Sendable {
        private let context: OpaquePointer

        /// Reads the files of `settings`, which blocks.
        ///
        /// - Throws: the reason, with the path of the file.
        init(_ settings: RedisTLSSettings) throws(SocketError) {
            ERR_clear_error()
            guard let context = SSL_CTX_new(TLS_client_method()) else {
                throw SocketError(tls: TLSSession.reason())
            }
            self.context = context
            let isUnverified = settings.isUnverified
            SSL_CTX_set_verify(context, isUnverified ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, nil)
            try Self.check(tls_restrict(context), "TLS 1.2")
            if let authorities = settings.authorities {
                try Self.check(SSL_CTX_load_verify_locations(context, authorities, nil), authorities)
            } else if !isUnverified {
                try Self.check(SSL_CTX_set_default_verify_paths(context), "the system's authorities")
            }
            if let certificate = settings.certificate {
                let key = settings.key ?? certificate
                try Self.check(SSL_CTX_use_certificate_chain_file(context, certificate), certificate)
                try Self.check(SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM), key)
            }
        }

        deinit { SSL_CTX_free(context) }

        private static func check(_ status: Int32, _ thing: String) throws(SocketError) {
            if status != 1 { throw SocketError(tls: "\(thing) cannot be used: \(TLSSession.reason())") }
        }

        /// A connection to the server with a name or a numeric address, which its certificate must have.
        func session(withServer name: String) throws(SocketError) -> any StreamCipher {
            ERR_clear_error()
            guard let session = SSL_new(context) else { throw SocketError(tls: TLSSession.reason()) }
            return try TLSSession(session, withServer: name)
        }
    }

    private final class TLSSession: StreamCipher {
        private let session: OpaquePointer
        /// Encrypted bytes of the server, and for it.
        private let input: OpaquePointer
        private let output: OpaquePointer
        /// Whether a call has failed: OpenSSL allows no more of them then.
        private var isBroken = false

        /// - Parameter session: belongs to this object, also if it throws.
        init(_ session: OpaquePointer, withServer name: String) throws(SocketError) {
            guard let input = BIO_new(BIO_s_mem()), let output = BIO_new(BIO_s_mem()) else {
                SSL_free(session)
                throw SocketError(tls: "there is no memory")
            }
            SSL_set_bio(session, input, output)
            SSL_set_connect_state(session)
            self.session = session
            self.input = input
            self.output = output
            try expect(name)
        }

        deinit { SSL_free(session) }

        /// Says the server's name in the handshake, and has it compared with those of the certificate.
        private func expect(_ name: String) throws(SocketError) {
            // OpenSSL takes an empty name for any, and ends one at a zero.
            guard !name.isEmpty, !name.utf8.contains(0) else {
                throw SocketError(tls: "the server has no name to compare with its certificate")
            }
            let parameters = SSL_get0_param(session)
            // A link's name after a numeric address is in no certificate.
            let address = name.contains(":") ? String(name.prefix { $0 != "%" }) : name
            if X509_VERIFY_PARAM_set1_ip_asc(parameters, address) == 1 { return }
            let host = name.hasSuffix(".") ? String(name.dropLast()) : name
            X509_VERIFY_PARAM_set_hostflags(
                parameters,
                UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT)
            )
            guard !host.isEmpty, X509_VERIFY_PARAM_set1_host(parameters, host, host.utf8.count) == 1,
                tls_send_server_name(session, host) == 1
            else { throw SocketError(tls: "\(name) cannot be the name of a server") }
        }

        func shakeHands() throws(SocketError) -> Bool {
            ERR_clear_error()
            let status = SSL_do_handshake(session)
            if status == 1 { return true }
            guard SSL_get_error(session, status) == SSL_ERROR_WANT_READ else { throw failure() }
            return false
        }

        func receive(_ bytes: UnsafeRawBufferPointer) throws(SocketError) {
            guard BIO_write(input, bytes.baseAddress, Int32(bytes.count)) == bytes.count else { throw failure() }
        }

        func decrypt(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> Socket.Transfer {
            var rest = buffer
            while !rest.isEmpty {
                ERR_clear_error()
                let status = SSL_read(session, rest.baseAddress, Int32(min(rest.count, Int(Int32.max))))
                if status > 0 {
                    rest = UnsafeMutableRawBufferPointer(rebasing: rest.dropFirst(Int(status)))
                    continue
                }
                let error = SSL_get_error(session, status)
                guard error == SSL_ERROR_WANT_READ || error == SSL_ERROR_ZERO_RETURN else { throw failure() }
                if rest.count < buffer.count { break }
                return error == SSL_ERROR_WANT_READ ? .wouldBlock : .end
            }
            return .bytes(buffer.count - rest.count)
        }

        func encrypt(_ bytes: UnsafeRawBufferPointer) throws(SocketError) {
            ERR_clear_error()
            guard SSL_write(session, bytes.baseAddress, Int32(bytes.count)) == bytes.count else { throw failure() }
        }

        func end() {
            if isBroken || SSL_is_init_finished(session) != 1 { return }
            ERR_clear_error()
            SSL_shutdown(session)
        }

        func takeOutput() -> [UInt8] {
            let count = BIO_ctrl_pending(output)
            if count == 0 { return [] }
            return [UInt8](unsafeUninitializedCapacity: count) { buffer, written in
                written = Int(max(0, BIO_read(output, buffer.baseAddress, Int32(count))))
            }
        }

        // MARK: Failures

        private func failure() -> SocketError {
            isBroken = true
            let error = ERR_peek_error()
            let verdict = SSL_get_verify_result(session)
            if tls_reason(error) == SSL_R_CERTIFICATE_VERIFY_FAILED, verdict != X509_V_OK {
                let text = X509_verify_cert_error_string(verdict).map { String(cString: $0) } ?? "\(verdict)"
                return SocketError(tls: "the server's certificate is not accepted: \(text)")
            }
            if tls_reason(error) == SSL_R_WRONG_VERSION_NUMBER {
                return SocketError(tls: "the server does not answer in TLS")
            }
            return SocketError(tls: Self.reason())
        }

        /// The reason of the thread's last failed call.
        static func reason() -> String {
            // The first reason is the innermost one.
            let error = ERR_get_error()
            ERR_clear_error()
            if let text = ERR_reason_error_string(error) { return String(cString: text) }
            // A system's error has no text of OpenSSL's own.
            let number = Int32(truncatingIfNeeded: error & 0x7FFF_FFFF)
            return error > 0x7FFF_FFFF ? String(cString: strerror(number)) : "error \(error) of OpenSSL"
        }
    }
#endif
