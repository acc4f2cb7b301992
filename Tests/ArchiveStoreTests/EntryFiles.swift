import Foundation

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
