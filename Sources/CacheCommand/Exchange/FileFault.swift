/// Why a file in a directory cannot be read as one.
enum FileFault: Error, Sendable, Equatable {
    case system(Int32)
    /// A link, a directory, a pipe, or the like; it is not followed nor read.
    case irregular
    case tooLarge(limit: Int)

    /// To follow the file's name.
    var phrase: String {
        switch self {
        case .system(let number): "cannot be read: \(SystemMessage(number))"
        case .irregular: "is no regular file"
        case .tooLarge(let limit): "is larger than \(ByteText(limit))"
        }
    }
}
