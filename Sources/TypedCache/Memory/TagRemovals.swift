/// The removals by tag while operations are under way: a load that began before one saves no entry with its tag.
///
/// Of a bounded number of tags: beyond it, all tags count as removed, so that a loaded value is saved too rarely and never
/// wrongly.
struct TagRemovals {
    private static let mostTags = 256

    /// The number of the last removal.
    private(set) var last = 0
    /// The number of the last removal by each tag. Tags are compared byte by byte, as a store does.
    private var numbers: [[UInt8]: Int] = [:]
    /// The number of the last removal by a tag that is not among them.
    private var floor = 0

    mutating func add(_ tag: String) {
        let tag = Array(tag.utf8)
        if numbers.count >= Self.mostTags, numbers[tag] == nil {
            numbers = [:]
            floor = last
        }
        last += 1
        numbers[tag] = last
    }

    /// Called while no operation is under way: no start is compared with the removals so far.
    mutating func forget() {
        if !numbers.isEmpty { numbers = [:] }
        floor = last
    }

    /// Whether one of some tags was removed since another removal; `nil` stands for any tags.
    func include(_ tags: [String]?, since start: Int) -> Bool {
        guard start < last else { return false }
        guard let tags else { return true }
        return tags.contains { (numbers[Array($0.utf8)] ?? floor) > start }
    }
}
