/// Stands in until the command is joined to the cache: it can only say so.
package struct UnwiredBackend: CacheBackend {
    package init() {}

    package func open(_ selection: CacheSelection) throws -> any CacheAccess {
        throw CommandFailure.unavailable
    }

    package func sink(for options: WarmOptions) throws -> any RecordSink { throw CommandFailure.unavailable }

    package func dump(_ path: String) throws -> ArchiveNode { throw CommandFailure.unavailable }
}
