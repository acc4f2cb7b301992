import ArchiveStore
import Foundation

#if canImport(Darwin)
    import Darwin
#elseif canImport(Glibc)
    import Glibc
#elseif canImport(Musl)
    import Musl
#endif

/// Where caches lie on disk.
package enum CacheDirectory {
    /// The directory that holds this program's caches, unless another is given.
    ///
    /// On Linux `$XDG_CACHE_HOME`, or `$HOME/.cache` where that is not set to an absolute path (XDG Base Directory
    /// Specification; without `HOME`, the home directory of the process's user), with a folder named after the program; on
    /// Apple platforms the user's Caches folder with one named after the bundle.
    package static func standard(forProgram program: String? = nil) -> URL {
        let name = program ?? programName
        #if canImport(Darwin)
            return URL.cachesDirectory.appending(path: name, directoryHint: .isDirectory)
        #else
            return caches(environment: ProcessInfo.processInfo.environment)
                .appending(path: name, directoryHint: .isDirectory)
        #endif
    }

    #if !canImport(Darwin)
        /// The directory of all programs' caches on Linux.
        static func caches(environment: [String: String]) -> URL {
            func directory(_ variable: String) -> URL? {
                guard let path = environment[variable], path.hasPrefix("/") else { return nil }
                return URL(fileURLWithPath: path, isDirectory: true)
            }
            if let caches = directory("XDG_CACHE_HOME") { return caches }
            // Foundation gives the user's home, and ignores HOME.
            let home = directory("HOME") ?? FileManager.default.homeDirectoryForCurrentUser
            return home.appending(path: ".cache", directoryHint: .isDirectory)
        }
    #endif

    /// The name of this program.
    static var programName: String {
        #if canImport(Darwin)
            if let identifier = Bundle.main.bundleIdentifier { return identifier }
        #endif
        let path = CommandLine.arguments.first ?? ""
        let name = path.split(separator: "/").last.map(String.init) ?? ""
        return (try? check(name: name)) == nil ? "typed-cache" : name
    }

    /// The path of a cache's directory without symbolic links: one for all ways to it.
    package static func place(_ directory: URL) -> String {
        let path = directory.path(percentEncoded: false)
        // By the system, which takes an eighth of the time of URL's own way.
        guard let real = realpath(path, nil) else { return path }
        defer { free(real) }
        return String(cString: real)
    }

    /// Opens the store of a cache, in a directory of the cache's own.
    ///
    /// - Parameter wrap: gives the store that stands in the place of the one on disk, below a queue of saves.
    /// - Throws: `.invalidName`, and the errors of opening the store.
    package static func open(
        _ name: String,
        in root: URL,
        create: Bool,
        disk: DiskSettings = DiskSettings(),
        through wrap: (any ArchiveStore) -> any ArchiveStore = { $0 }
    ) throws(CacheError) -> (directory: URL, store: any ArchiveStore) {
        try check(name: name)
        guard root.isFileURL else {
            throw CacheError(
                .invalidDirectory,
                "\(root.absoluteString) is not a file URL; use URL(fileURLWithPath:)"
            )
        }
        let own = root.appending(path: name, directoryHint: .isDirectory)
        do throws(StoreError) {
            let path = own.path(percentEncoded: false)
            let store = wrap(try store(path, ofCache: name, create: create, disk))
            guard let limit = disk.writing.queueLimit else { return (own, store) }
            return (own, WriteBehindStore(over: store, byteLimit: limit.bytes))
        } catch {
            throw CacheError(error)
        }
    }

    /// The store at a path, of the kind that is there or is asked for.
    static func store(
        _ path: String,
        ofCache name: String,
        create: Bool,
        _ disk: DiskSettings
    ) throws(StoreError) -> any ArchiveStore {
        let settings = disk.storeSettings(forCache: name)
        let kind = disk.layout.kind(at: path)
        do {
            return try store(path, of: kind, create: create, settings)
        } catch {
            // Another process may have made a store of the other kind there in the meantime.
            let present = disk.layout.kind(at: path)
            guard present != kind else { throw error }
            return try store(path, of: present, create: create, settings)
        }
    }

    private static func store(
        _ path: String,
        of kind: StoreKind,
        create: Bool,
        _ settings: StoreSettings
    ) throws(StoreError) -> any ArchiveStore {
        switch kind {
        case .file: try FileStore(directory: path, create: create, settings: settings)
        case .packed: try PackedStore(directory: path, create: create, settings: settings)
        }
    }

    /// Checks that a name is one safe path component.
    ///
    /// - Parameter owner: whose name it is, for the error.
    /// - Throws: `.invalidName`.
    package static func check(name: String, of owner: String = "a cache") throws(CacheError) {
        func refuse(_ reason: String) -> CacheError {
            CacheError(.invalidName, "\(owner)'s name \(reason)")
        }
        guard (1...200).contains(name.utf8.count) else { throw refuse("is 1 to 200 UTF-8 bytes long") }
        guard !name.hasPrefix(".") else { throw refuse("does not begin with a dot") }
        for scalar in name.unicodeScalars {
            if scalar == "/" || scalar == "\\" || scalar == ":" { throw refuse("contains no / \\ or :") }
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator, .surrogate, .unassigned:
                throw refuse("contains no invisible characters")
            default: break
            }
        }
    }
}
