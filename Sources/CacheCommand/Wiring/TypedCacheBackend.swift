import Foundation
import KeyedArchive
import TypedCache

/// The caches of this machine's disk.
package struct TypedCacheBackend: CacheBackend {
    /// The program name for the command's own caches, when neither `--root` nor `--app` is given.
    private static let program = "typed-cache"

    package init() {}

    package func open(_ selection: CacheSelection) throws -> any CacheAccess {
        DiskCacheAccess(try cache(selection, create: false))
    }

    package func openOrCreate(_ selection: CacheSelection) throws -> any CacheAccess {
        DiskCacheAccess(try cache(selection, create: true, disk: DiskSettings(layout: selection.diskLayout)))
    }

    package func checkingSink(for options: WarmOptions) throws -> any RecordSink {
        CheckingSink(content: try content(of: options))
    }

    /// The type, expiration and tags that the options give to every record.
    private func content(of options: WarmOptions) throws -> RecordContent {
        if let type = options.typeName, ArchivedClass.isIntrinsic(type) || !(1...1_024).contains(type.utf8.count) {
            throw CommandFailure.unusableType(type)
        }
        return RecordContent(
            type: options.typeName.map { ArchivedClass(name: $0) },
            expiration: options.timeToLive.map { .after($0.duration) } ?? .never,
            tags: options.tag.map { [$0] } ?? []
        )
    }

    package func sink(for options: WarmOptions) throws -> any RecordSink {
        let content = try content(of: options)
        return CacheSink(
            cache: try cache(
                options.cache,
                create: true,
                disk: DiskSettings(layout: options.cache.diskLayout, byteLimit: options.maxSize?.bytes)
            ),
            content: content
        )
    }

    package func dump(_ path: String) throws -> ArchiveOutline {
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandFailure.unreadable(path: path, errno: Self.systemNumber(of: error))
        }
        let archive = try CacheEntryFile.archive(in: data, path: path) ?? data
        do throws(ArchiveError) {
            return ArchiveOutline(try ArchiveTree(sharing: archive))
        } catch {
            throw CommandFailure.unsoundArchive(path: path, error)
        }
    }

    private static func systemNumber(of error: any Error) -> Int32 {
        let error = error as NSError
        let underlying = error.userInfo[NSUnderlyingErrorKey] as? NSError
        for error in [underlying, error].compactMap({ $0 }) where error.domain == NSPOSIXErrorDomain {
            return Int32(truncatingIfNeeded: error.code)
        }
        switch (error as? CocoaError)?.code {
        case .fileReadNoSuchFile, .fileNoSuchFile: return ENOENT
        case .fileReadNoPermission: return EACCES
        default: return EIO
        }
    }

    /// An app with a name that differs from the selected one in case only.
    private static func appAlike(_ selection: CacheSelection, _ directory: URL) -> String? {
        guard case .app(let name) = selection.location else { return nil }
        return CacheListing.folders(in: directory.deletingLastPathComponent()).first {
            $0 != name && $0.lowercased() == name.lowercased()
        }
    }

    private func cache(
        _ selection: CacheSelection,
        create: Bool,
        disk: DiskSettings = DiskSettings()
    ) throws -> Cache<StoredRecord> {
        let root: URL? =
            if case .root(let path) = selection.location {
                URL(fileURLWithPath: path, isDirectory: true)
            } else {
                nil
            }
        var program = Self.program
        if case .app(let name) = selection.location { program = name }
        do throws(CacheError) {
            return try Cache(
                name: selection.name,
                root: root,
                program: program,
                create: create,
                memory: .none,
                disk: disk
            )
        } catch {
            if !create, error.errorNumber == ENOENT, let path = error.path {
                let directory = URL(fileURLWithPath: path).deletingLastPathComponent()
                throw CommandFailure.noCache(
                    MissingCache(
                        selection: selection,
                        directory: directory.path,
                        others: CacheListing.names(in: directory),
                        app: Self.appAlike(selection, directory)
                    )
                )
            }
            throw error
        }
    }
}

extension CacheSelection {
    fileprivate var diskLayout: DiskSettings.Layout {
        switch layout {
        case .packed: .packed
        case .files: .files
        case nil: .automatic
        }
    }
}
