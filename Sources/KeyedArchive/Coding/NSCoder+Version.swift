import Foundation

extension NSCoder {
    /// Archives the version of a class's keys beside its other values.
    ///
    /// Keys that a class does not ask for are ignored, and missing ones give `nil` and 0, so old and new versions of
    /// a class read each other as long as a key keeps its meaning. Where one must change, the version tells:
    ///
    /// ```swift
    /// func encode(with coder: NSCoder) {
    ///     coder.encodeVersion(2)
    ///     coder.encode(meters, forKey: "distance")   // version 1 had kilometers
    /// }
    ///
    /// required init?(coder: NSCoder) {
    ///     let distance = coder.decodeDouble(forKey: "distance")
    ///     meters = coder.decodeVersion() < 2 ? distance * 1_000 : distance
    /// }
    /// ```
    ///
    /// - Parameters:
    ///   - version: 1 or more.
    ///   - key: a key of its own for each class of a hierarchy that has versions.
    public func encodeVersion(_ version: Int, forKey key: String = "version") { encode(version, forKey: key) }

    /// The version that was archived with `encodeVersion(_:forKey:)`; 0 if there is none.
    public func decodeVersion(forKey key: String = "version") -> Int {
        containsValue(forKey: key) ? decodeInteger(forKey: key) : 0
    }
}
