import Foundation

extension CocoaError {
    /// Whether there is no such file: Foundation tells by two codes.
    package var isMissingFile: Bool { code == .fileNoSuchFile || code == .fileReadNoSuchFile }
}
