/// The tag with which a key is always saved, if any: so all know which keys the removal of a tag concerns.
enum Tag {
    static let all = ["red", "green"]

    static func of(_ key: String) -> String? {
        let sum = key.utf8.reduce(0) { $0 + Int($1) }
        return sum % 3 < all.count ? all[sum % 3] : nil
    }
}
