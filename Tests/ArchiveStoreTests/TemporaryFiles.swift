import Foundation

/// Has `body` run with the path of a directory of its own, which is removed afterwards with all that is in it.
///
/// - Parameter inMemory: Whether it is in memory, where the system has room for files there: for tests that make
///   very many of them.
func withTemporaryDirectory(inMemory: Bool = false, _ body: (String) throws -> Void) throws {
    let memory = "/dev/shm/"
    let hasMemory = inMemory && FileManager.default.isWritableFile(atPath: memory)
    let path = (hasMemory ? memory : NSTemporaryDirectory()) + "archive-store-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    let result = Result { try body(path) }
    try removeDirectory(path)
    try result.get()
}

/// Removes a directory in which a store may still be doing its last work in the background.
func removeDirectory(_ path: String) throws {
    for _ in 0..<100 {
        if (try? FileManager.default.removeItem(atPath: path)) != nil { return }
        usleep(10_000)
    }
    try FileManager.default.removeItem(atPath: path)
}

/// The paths of all files below `directory` that are named as entries.
func entries(in directory: String) -> [String] {
    let paths = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String } ?? []
    return paths.filter { $0.wholeMatch(of: /[0-9a-f]{2}\/[0-9a-f]{30}\.\d+/) != nil }
        .map { directory + "/" + $0 }
        .sorted()
}

func readFile(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: URL(fileURLWithPath: path)))
}

func writeFile(_ bytes: [UInt8], _ path: String) throws {
    try Data(bytes).write(to: URL(fileURLWithPath: path))
}

/// The last nine bits of a file's mode, of the name itself.
func permissions(_ path: String) throws -> Int {
    try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int ?? -1
}
