import Testing
import Workloads

@testable import benchmarks

struct RecencyTableTests {
    /// Against keys in an array, the newest last.
    @Test(arguments: 0..<50)
    func agreesWithAnArray(seed: UInt64) {
        var generator = SeededGenerator(seed: seed)
        let capacity = Int.random(in: 1...5, using: &generator)
        var table = RecencyTable<Int>(capacity: capacity)
        var model: [(key: String, value: Int)] = []
        for step in 0..<200 {
            let key = "\(Int.random(in: 0..<8, using: &generator))"
            let known = model.firstIndex { $0.key == key }.map { model.remove(at: $0) }
            if Bool.random(using: &generator) {
                table.insert(step, forKey: key)
                model = ((model.count == capacity ? Array(model.dropFirst()) : model) + [(key, step)])
            } else {
                #expect(table.value(forKey: key) == known?.value)
                if let known { model.append(known) }
            }
        }
    }
}
