import Foundation
import TestSupport
import Testing

/// Other programs that read archives and property lists.
enum Tool {
    /// Swift's own `plutil`: GNUstep has one too, which reads no binary list.
    static let plutil: String = {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        for folder in folders {
            let swift = URL(fileURLWithPath: "\(folder)/swift").resolvingSymlinksInPath()
            let beside = swift.deletingLastPathComponent().appending(path: "plutil").path
            let isThere = FileManager.default.isExecutableFile(atPath: swift.path)
            if isThere, FileManager.default.isExecutableFile(atPath: beside) { return beside }
        }
        return "plutil"
    }()

    /// Runs a tool and returns its output.
    static func run(_ arguments: [String], environment: [String: String] = [:]) throws -> String {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let pipe = Pipe.make()
        process.standardOutput = pipe
        try process.start()
        let output = pipe.fileHandleForReading.readDataToEndOfFile()
        process.waitUntilExit()
        let text = String(decoding: output, as: UTF8.self)
        try #require(
            process.terminationReason == .exit && process.terminationStatus == 0,
            "\(arguments.first ?? "") failed: \(text.suffix(1_000))"
        )
        return text
    }

    /// Runs a tool on a file with `data`, and returns its output.
    static func run(_ tool: String, _ arguments: [String], file data: Data) throws -> String {
        try withFolder { folder in
            let file = folder.appending(path: "archive.plist")
            try data.write(to: file)
            return try run([tool] + arguments + [file.path])
        }
    }

    /// Makes a folder that is gone again when `body` returns.
    static func withFolder<Result>(_ body: (URL) throws -> Result) throws -> Result {
        let folder = TestDirectory.newPath()
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        return try body(folder)
    }

    /// Compares property lists as Python reads them, integers apart from reals, and UIDs of either form alike.
    ///
    /// - Parameter pairs: a name, and the two lists.
    /// - Returns: a line for each pair that differs or that Python cannot read, beginning with its name.
    static func differences(_ pairs: [(name: String, left: Data, right: Data)]) throws -> [String] {
        try withFolder { folder in
            for (index, pair) in pairs.enumerated() {
                try pair.left.write(to: folder.appending(path: "\(index).left"))
                try pair.right.write(to: folder.appending(path: "\(index).right"))
                try Data(pair.name.utf8).write(to: folder.appending(path: "\(index).name"))
            }
            let output = try run(["python3", "-c", comparison, folder.path, "\(pairs.count)"])
            return output.split(separator: "\n").map(String.init)
        }
    }

    private static let comparison = """
        import plistlib, struct, sys
        from plistlib import UID
        def plain(value):
            if isinstance(value, dict):
                if list(value) == ['CF$UID'] and type(value['CF$UID']) is int: return ('uid', value['CF$UID'])
                return ('dict', {key: plain(member) for key, member in value.items()})
            if isinstance(value, list): return ('list', [plain(member) for member in value])
            if isinstance(value, UID): return ('uid', value.data)
            if isinstance(value, float):
                return ('float', 'nan' if value != value else struct.pack('>d', value))
            if hasattr(value, 'microsecond'): return ('date', value.replace(microsecond=0))
            return (type(value).__name__, value)
        folder = sys.argv[1]
        for index in range(int(sys.argv[2])):
            name = open(f'{folder}/{index}.name').read()
            try:
                left = plain(plistlib.load(open(f'{folder}/{index}.left', 'rb')))
                right = plain(plistlib.load(open(f'{folder}/{index}.right', 'rb')))
                if left != right: print(name, 'differs')
            except Exception as error: print(name, type(error).__name__, error)
        """
}
