import BenchmarkKit

/// A store of bytes: it gets them compressed, and the bytes that it gives back are not decoded.
final class BytesContestant: DiskContestant {
    private let store: any ByteStore

    init(_ store: any ByteStore) { self.store = store }

    func save(_ item: DiskItem, forKey key: String) throws { try store.save(item.bytes, forKey: key) }

    func fetch(forKey key: String) throws -> Bool {
        let bytes = try store.fetch(forKey: key)
        blackHole(bytes)
        return bytes != nil
    }

    func remove(forKey key: String) throws { try store.remove(forKey: key) }

    func together(_ body: () throws -> Void) throws { try store.together(body) }
}
