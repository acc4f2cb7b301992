import Foundation

extension KeyedArchiver {
    /// Writes an object of a Foundation class; `body` encodes its fields.
    ///
    /// - Parameter object: the object itself, if there is one: it gets one place, however often it is encoded.
    func form(_ type: AnyClass, of object: AnyObject? = nil, _ body: () -> Void) -> ArchiveWriter.UID {
        // Readers have limits for some of these, but for numbers none.
        if type != NSDecimalNumber.self { mayBeRefused = true }
        return container(.of(type), of: object, body)
    }

    func encode(inline text: String, forKey key: String) { writer.set(key, writer.string(text)) }

    func encode(inline data: Data, forKey key: String) {
        writer.set(key, data.withUnsafeBytes { writer.scalar($0) })
    }
}
