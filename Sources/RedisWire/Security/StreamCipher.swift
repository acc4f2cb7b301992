/// Encrypts and decrypts the bytes of one connection. It knows no socket, and never waits.
protocol StreamCipher: AnyObject {
    /// Goes on with the handshake as far as the received bytes allow.
    ///
    /// - Returns: whether it is done.
    func shakeHands() throws(SocketError) -> Bool

    /// Takes bytes of the server.
    func receive(_ bytes: UnsafeRawBufferPointer) throws(SocketError)

    /// Decrypts received bytes, until there are no more or the buffer is full.
    ///
    /// - Returns: `.wouldBlock` if no byte can be decrypted, `.end` if the server has said that it sends no more.
    func decrypt(into buffer: UnsafeMutableRawBufferPointer) throws(SocketError) -> Socket.Transfer

    func encrypt(_ bytes: UnsafeRawBufferPointer) throws(SocketError)

    /// Tells the server that no more comes, unless the connection has failed.
    func end()

    /// Takes all bytes for the server, of the handshake too.
    func takeOutput() -> [UInt8]
}
