import Foundation

/// The settings of a `JSONDecoder`, as far as ``JSONDocument`` follows them.
struct JSONSettings {
    let dates: JSONDecoder.DateDecodingStrategy
    let data: JSONDecoder.DataDecodingStrategy
    let convertsNames: Bool
    let userInfo: [CodingUserInfoKey: any Sendable]

    /// - Returns: `nil` where the decoder has to decode by itself: one of a class that the program has made, and settings
    ///   that no answer of a server is likely to need.
    init?(_ decoder: JSONDecoder) {
        guard type(of: decoder) == JSONDecoder.self, !decoder.allowsJSON5, !decoder.assumesTopLevelDictionary else {
            return nil
        }
        switch decoder.keyDecodingStrategy {
        case .useDefaultKeys: convertsNames = false
        case .convertFromSnakeCase: convertsNames = true
        default: return nil
        }
        guard case .throw = decoder.nonConformingFloatDecodingStrategy else { return nil }
        dates = decoder.dateDecodingStrategy
        data = decoder.dataDecodingStrategy
        userInfo = decoder.userInfo
    }

    /// A name as it is asked for.
    func asked(_ written: String) -> String { convertsNames ? Self.camelCase(written) : written }

    /// `one_two` becomes `oneTwo`; underscores at both ends stay.
    static func camelCase(_ name: String) -> String {
        guard let first = name.firstIndex(where: { $0 != "_" }), let last = name.lastIndex(where: { $0 != "_" })
        else {
            return name
        }
        let words = name[first...last].split(separator: "_")
        guard words.count > 1 else { return name }
        let joined = words[0].lowercased() + words[1...].map(\.capitalized).joined()
        return name[..<first] + joined + name[name.index(after: last)...]
    }
}
