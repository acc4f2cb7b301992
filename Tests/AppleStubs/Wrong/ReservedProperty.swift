import Foundation

// On macOS, NSObject has a property of this name and of another type.
public final class Wrong: NSObject {
    public let classDescription: String = ""
}
