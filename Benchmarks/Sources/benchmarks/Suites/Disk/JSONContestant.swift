import BenchmarkKit
import Foundation

/// One JSON file per article, by Foundation alone, as applications do it.
final class JSONContestant: DiskContestant {
    private let folder: URL
    private let encoder = JSONEncoder()
    private let decoder = JSONDecoder()

    init(_ folder: URL) { self.folder = folder }

    func save(_ item: DiskItem, forKey key: String) throws {
        try encoder.encode(item.article).write(to: folder.appending(path: key), options: .atomic)
    }

    func fetch(forKey key: String) throws -> Bool {
        let data = try Data(contentsOf: folder.appending(path: key))
        blackHole(try decoder.decode(Article.self, from: data))
        return true
    }

    func remove(forKey key: String) throws {
        try FileManager.default.removeItem(at: folder.appending(path: key))
    }
}
