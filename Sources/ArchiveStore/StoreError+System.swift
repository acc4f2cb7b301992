import Foundation

extension StoreError {
    /// `.io`: `error` came while `action` was done to `path`.
    init(_ error: SystemError, path: String, action: String) {
        let reason = error.isObstacle ? "\(error.text); \(Self.obstacleRemedy)" : error.text
        self.init(.io, path: path, action: action, reason: reason, errorNumber: error.number)
    }

    /// `.invalidDirectory` if something else stands where a directory should, else `.io`.
    init(directory error: SystemError, path: String, action: String) {
        guard error.isNotDirectory else {
            self.init(error, path: path, action: action)
            return
        }
        let reason =
            "a file or a symbolic link stands where a directory should (\(error.text)); \(Self.obstacleRemedy)"
        self.init(.invalidDirectory, path: path, action: action, reason: reason, errorNumber: error.number)
    }

    /// The way out where something that the store has not made is in the way, for messages.
    private static let obstacleRemedy = "move it elsewhere, or remove it"

    /// Whether something that was there before is gone.
    var isMissingFile: Bool { code == .io && errorNumber == ENOENT }

    /// Whether the process, or the system, has no descriptor left.
    var isOutOfDescriptors: Bool { errorNumber.map { SystemError(number: $0).isOutOfDescriptors } ?? false }

    /// Whether a place of the device cannot be read or written.
    var isDeviceFailure: Bool { errorNumber.map { SystemError(number: $0).isDeviceFailure } ?? false }

    /// Whether the volume, or the user's quota on it, is full.
    var isOutOfSpace: Bool { errorNumber.map { SystemError(number: $0).isFull } ?? false }
}
