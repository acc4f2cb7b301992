import Foundation

// Elsewhere than on macOS, NSCoder has no such method.
final class Wrong: NSCoder {
    override func encodePropertyList(_ list: Any) {}
}
