/// The names of the objects in one text, each sequence of names once.
///
/// A tree: a shape is another one with one more name, and shape 0 has none. Most objects of an answer have the same names
/// in the same order as the one before, so each name is compared with one expected name, and is neither hashed nor made
/// a string again.
struct JSONShapes {
    /// An object with more members is unusual: a dictionary, most likely.
    private static let memberLimit = 128
    /// The most shapes that follow one, and the most of all: they bound the time and the memory for any text.
    private static let followerLimit = 64
    private static let countLimit = 1_024

    private struct Shape {
        /// The last member's name as the text has it, and as it is asked for.
        let written: String
        let name: String
        /// Where `names` has the bytes of the name.
        let range: Range<Int>
        /// The shape without the last member.
        let shorter: Int
        let memberCount: Int
        var followers: [Int] = []
        /// The follower that came last; 0: none.
        var latest = 0
    }

    /// How a name of the text is asked for.
    private let convert: (String) -> String
    private var names: [UInt8] = []
    private var shapes = [Shape(written: "", name: "", range: 0..<0, shorter: 0, memberCount: 0)]

    init(convert: @escaping (String) -> String) { self.convert = convert }

    /// The shape with one more name.
    ///
    /// - Parameter position: after the name's opening quote; is moved after the closing one.
    /// - Throws: if the name is not plain ASCII, if the object has it already, or if there are too many.
    mutating func longer(
        _ shape: Int,
        in bytes: Span<UInt8>,
        at position: inout Int
    ) throws(UnclearJSON) -> Int {
        let latest = shapes[shape].latest
        if latest > 0, has(latest, bytes, at: position) {
            position += shapes[latest].range.count + 1
            return latest
        }
        for follower in shapes[shape].followers where has(follower, bytes, at: position) {
            shapes[shape].latest = follower
            position += shapes[follower].range.count + 1
            return follower
        }
        return try add(to: shape, bytes, &position)
    }

    /// Whether the name of a shape's last member is at a position, with a quote after it.
    private func has(_ shape: Int, _ bytes: Span<UInt8>, at position: Int) -> Bool {
        let range = shapes[shape].range
        guard range.count < bytes.count - position, bytes[position + range.count] == UInt8(ascii: "\"") else {
            return false
        }
        for offset in 0..<range.count where names[range.lowerBound + offset] != bytes[position + offset] {
            return false
        }
        return true
    }

    private mutating func add(
        to shape: Int,
        _ bytes: Span<UInt8>,
        _ position: inout Int
    ) throws(UnclearJSON) -> Int {
        let start = names.count
        var end = position
        while bytes[end] != UInt8(ascii: "\"") {
            guard (0x20..<0x80).contains(bytes[end]), bytes[end] != UInt8(ascii: "\\") else { throw UnclearJSON() }
            end += 1
        }
        guard shapes.count < Self.countLimit, shapes[shape].memberCount < Self.memberLimit,
            shapes[shape].followers.count < Self.followerLimit
        else { throw UnclearJSON() }
        for index in position..<end { names.append(bytes[index]) }
        let written = String(decoding: names[start...], as: UTF8.self)
        let name = convert(written)
        guard member(name, of: shape) == nil else { throw UnclearJSON() }
        shapes.append(
            Shape(
                written: written,
                name: name,
                range: start..<names.count,
                shorter: shape,
                memberCount: shapes[shape].memberCount + 1
            )
        )
        position = end + 1
        shapes[shape].followers.append(shapes.count - 1)
        shapes[shape].latest = shapes.count - 1
        return shapes.count - 1
    }

    var count: Int { shapes.count }

    /// Which member of an object has a name; `nil`: none.
    func member(_ name: String, of shape: Int) -> Int? {
        var shape = shape
        while shape != 0 {
            if shapes[shape].name == name { return shapes[shape].memberCount - 1 }
            shape = shapes[shape].shorter
        }
        return nil
    }

    /// The names of an object's members, in the order of the text, as they are asked for.
    func names(of shape: Int) -> [String] { path(to: shape).map(\.name) }

    /// The names of an object's members as the text has them.
    func writtenNames(of shape: Int) -> [String] { path(to: shape).map(\.written) }

    private func path(to shape: Int) -> [Shape] {
        var path: [Shape] = []
        var shape = shape
        while shape != 0 {
            path.append(shapes[shape])
            shape = shapes[shape].shorter
        }
        return path.reversed()
    }
}
