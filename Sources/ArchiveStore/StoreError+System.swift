import Foundation

extension StoreError {
    /// `.io`: `error` came while `action` was done to `path`.
    init(_ error: SystemError, path: String, action: String) {
        self.init(.io, path: path, action: action, reason: error.text, errorNumber: error.number)
    }

    /// `.invalidDirectory` if something else stands where a directory should, else `.io`.
    init(directory error: SystemError, path: String, action: String) {
        guard error.isNotDirectory else {
            self.init(error, path: path, action: action)
            return
        }
        let reason = "a file or a symbolic link stands where a directory should (\(error.text))"
        self.init(.invalidDirectory, path: path, action: action, reason: reason, errorNumber: error.number)
    }

    /// Whether something that was there before is gone.
    var isMissingFile: Bool { code == .io && errorNumber == ENOENT }
}
