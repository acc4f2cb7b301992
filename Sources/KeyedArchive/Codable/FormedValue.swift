import Foundation

/// A value of Foundation's that is archived in Apple's form by `encode(_:forKey:)`, and with its coding keys as a Codable
/// value. It is decoded from both.
protocol FormedValue {}

extension Locale: FormedValue {}
extension TimeZone: FormedValue {}
extension Calendar: FormedValue {}
extension DateComponents: FormedValue {}
extension DateInterval: FormedValue {}
extension IndexSet: FormedValue {}
extension IndexPath: FormedValue {}
extension CharacterSet: FormedValue {}
extension Measurement: FormedValue {}
extension PersonNameComponents: FormedValue {}
extension CGPoint: FormedValue {}
extension CGSize: FormedValue {}
extension CGRect: FormedValue {}
extension NSRange: FormedValue {}
#if os(macOS) || !canImport(Darwin)
    extension AffineTransform: FormedValue {}
#endif
