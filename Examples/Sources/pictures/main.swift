import Foundation
import TypedCache

// Pictures as they came, 1 MiB each, of which the disk keeps 5 MiB: bytes need no type of one's own.
func picture() -> Data {
    var generator = SystemRandomNumberGenerator()
    var words = [UInt64](repeating: 0, count: 1 << 17)
    for index in words.indices { words[index] = generator.next() }
    return words.withUnsafeBytes { Data($0) }
}

let limit = ByteCount.mebibytes(5)
let pictures = try Cache<Data>(
    name: "pictures",
    settings: CacheSettings(
        memory: MemorySettings(byteLimit: .mebibytes(2)),
        disk: DiskSettings(layout: .files, byteLimit: limit)
    )
)
try pictures.removeAll()

for number in 1...10 { try pictures.save(picture(), forKey: "holiday/\(number)", expiration: .after(.days(30))) }
try pictures.flush()
let entries = try pictures.entries().all()
let total = ByteCount.bytes(entries.reduce(0) { $0 + $1.size.bytes })
print(
    "kept: \((1...5).contains(entries.count) ? "up to 5" : "\(entries.count)") of 10, \(total <= limit ? "within" : "above") \(limit)"
)

if let entry = try pictures.entry(forKey: "holiday/10") {
    print(
        "the last one: \(entry.archiveSize > .mebibytes(1) ? "stored as it is" : "shrunk"), expires: \(entry.expiresAt != nil)"
    )
}
do {
    try pictures.save(
        Data(count: 6 << 20) + picture() + picture() + picture() + picture() + picture() + picture(),
        forKey: "huge"
    )
} catch {
    print("\(error.code): \(error.key ?? "?") in \(error.cache ?? "?")")
}
let removedCount = try pictures.removeAll { $0.key.hasPrefix("holiday/") }
print("removed: \(removedCount == entries.count ? "all of them" : "\(removedCount)")")
