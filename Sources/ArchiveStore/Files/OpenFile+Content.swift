extension OpenFile {
    /// Writes all of `content`.
    func write(_ content: FileContent) throws(SystemError) {
        try content.forEachPiece { piece throws(SystemError) in try write(piece) }
    }

    /// Writes all of `content` from `offset` on.
    func write(_ content: FileContent, at offset: Int) throws(SystemError) {
        var offset = offset
        try content.forEachPiece { piece throws(SystemError) in
            try write(piece, at: offset)
            offset += piece.count
        }
    }
}
