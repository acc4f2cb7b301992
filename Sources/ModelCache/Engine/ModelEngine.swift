import Foundation
import TypedCache

/// The parts of a ``Models``, each built from the parts that it needs.
final class ModelEngine: Sendable {
    let tables: ModelTables
    let server: Server
    let loads = InFlightLoads()
    let snapshots: Snapshots
    let loader: Loader
    let lists: ListLoader
    let changes: Changes

    init(
        _ tables: ModelTables,
        transport: (any ModelTransport)?,
        decoder: @escaping @Sendable () -> JSONDecoder
    ) {
        self.tables = tables
        server = Server(transport, tables, decoder: decoder)
        snapshots = Snapshots(tables: tables)
        let merger = Merger(tables: tables)
        let fetcher = Fetcher(server: server, loads: loads, report: tables.report)
        loader = Loader(tables: tables, snapshots: snapshots, merger: merger, fetcher: fetcher)
        lists = ListLoader(loader: loader)
        changes = Changes(merger: merger, decoder: decoder)
    }

    /// Lets no load, change or observer go on.
    ///
    /// - Parameter isErased: whether nothing is written any longer.
    func end(isErased: Bool = false) {
        tables.end(isErased: isErased)
        loads.end()
    }
}
