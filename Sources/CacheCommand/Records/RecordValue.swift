import Foundation

/// A value of one field of a record, as its source wrote it or as its field's declaration reads it.
///
/// JSON gives the first eight kinds; dates, bytes, addresses and identifiers only come from declared fields.
package enum RecordValue: Sendable, Equatable {
    case null
    case bool(Bool)
    case int(Int64)
    /// A whole number above `Int64.max`.
    case uint(UInt64)
    /// Always finite when read from a source.
    case double(Double)
    case string(String)
    case array([RecordValue])
    case object(Record)
    case date(Date)
    case data(Data)
    case url(URL)
    case uuid(UUID)
}
