import Foundation

/// A text of JSON that was read, to be decoded.
///
/// A decoded value equals the one that a `JSONDecoder` decodes. Where that is not certain, the text is unclear, and the
/// value is not to be used: the decoder is asked. Is for one task at a time, as a decoder is.
final class JSONDocument {
    /// The text, with a zero after it.
    let bytes: [UInt8]
    let items: [JSONItem]
    let settings: JSONSettings
    let userInfo: [CodingUserInfoKey: Any]
    // Unchecked, here and below: no code that reads or changes them calls code of a model.
    @exclusivity(unchecked) private var shapes: JSONShapes
    /// Whether something was decoded that a `JSONDecoder` may decode to something else. A model's own code may have
    /// gone on after the error.
    @exclusivity(unchecked) private(set) var isUnclear = false
    /// For each shape, the members by the order in which they are asked for: mostly it is the same for all objects.
    @exclusivity(unchecked) private var lookups: [[Lookup]]

    private struct Lookup {
        let name: String
        /// `nil`: there is no such member.
        let member: Int?
    }

    /// - Returns: `nil` if the text is no JSON, or unusual.
    init?(_ data: Data, _ settings: JSONSettings, userInfo: [CodingUserInfoKey: Any]) {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(data.count + 1)
        bytes.append(contentsOf: data)
        bytes.append(0)
        var reader = JSONReader(JSONShapes(convert: settings.asked))
        // A slice: the span of an array needs newer systems on Apple platforms. It is kept for as long as the span is.
        let whole = bytes[...]
        do throws(UnclearJSON) {
            try reader.read(whole.span)
        } catch {
            return nil
        }
        self.bytes = bytes
        self.settings = settings
        self.userInfo = userInfo
        items = reader.items
        shapes = reader.shapes
        lookups = Array(repeating: [], count: reader.shapes.count)
    }

    /// Decodes the whole text.
    ///
    /// - Returns: `nil` if a `JSONDecoder` is to decode it.
    func decode<Value: Decodable>(_ type: Value.Type) -> Value? {
        let root = JSONPlace(self, items[items.count - 1], parent: nil)
        do {
            let value = try root.decode(type)
            return isUnclear ? nil : value
        } catch {
            // The decoder finds the same error, and words it.
            return nil
        }
    }

    /// An error after which the result is not used.
    func unclear() -> UnclearJSON {
        isUnclear = true
        return UnclearJSON()
    }

    // MARK: Members

    /// Which member of an object has a name; `nil`: none.
    ///
    /// - Parameter number: how many members were asked for before in the same object.
    @inline(__always)
    func member(_ name: String, of shape: Int, number: Int) -> Int? {
        if number < lookups[shape].count, lookups[shape][number].name == name {
            return lookups[shape][number].member
        }
        return search(name, of: shape, number: number)
    }

    private func search(_ name: String, of shape: Int, number: Int) -> Int? {
        let found = Lookup(name: name, member: shapes.member(name, of: shape))
        if number < lookups[shape].count {
            lookups[shape][number] = found
        } else if number < 256 {
            lookups[shape].append(found)
        }
        return found.member
    }

    func names(of shape: Int) -> [String] { shapes.names(of: shape) }
    func writtenNames(of shape: Int) -> [String] { shapes.writtenNames(of: shape) }
}
