/// Why a source cannot be read any further: facts alone, the sentence is `SourceErrorMessage`'s.
enum SourceError: Error, Sendable, Equatable {
    /// The system could not open it.
    case cannotOpen(errno: Int32)
    /// The system could not read it.
    case cannotRead(errno: Int32)
    /// A signal asked the command to stop while it waited for bytes.
    case interrupted
    /// It should hold an array and begins otherwise.
    case notAnArray(line: Int)
    /// The array is not closed.
    case unclosedArray(line: Int)
    /// Something follows the array.
    case textAfterArray(line: Int)
    /// There is no header line.
    case missingHeader
    /// The header line cannot be read.
    case badHeader(line: Int, BadRecordReason)
    /// Two columns have the same name.
    case duplicateColumn(line: Int, name: String)
    /// A column, counted from 1, has no name.
    case unnamedColumn(line: Int, column: Int)
}
