import Foundation
import TestSupport

/// Inputs for codes and matches of every kind, up to a given length.
enum DeflateInputs: CaseIterable {
    case noise
    /// Few letters, each next one half as frequent: codes of all lengths.
    case rareLetters
    /// Strings that come again, near and far, some of them overlapping themselves.
    case repeats
    case oneByte
    /// Parts of the corpus, where there is one; else text.
    case file

    func make(upTo limit: Int, using random: inout SeededGenerator) -> [UInt8] {
        let count = Int.random(in: 0...(limit >> Int.random(in: 0...8, using: &random)), using: &random)
        switch self {
        case .noise: return random.bytes(count)
        case .rareLetters:
            let most = Int.random(in: 1...20, using: &random)
            return (0..<count).map { _ in UInt8(97 + min(most, random.next().trailingZeroBitCount)) }
        case .repeats: return repeats(count, using: &random)
        case .oneByte: return [UInt8](repeating: UInt8.random(in: 0...255, using: &random), count: count)
        case .file:
            guard let file = Self.files.randomElement(using: &random) else { return MixedArchives.text(count) }
            let start = Int.random(in: 0..<file.count, using: &random)
            var bytes = Array(file[start...].prefix(count))
            while bytes.count < count { bytes += bytes.prefix(count - bytes.count) }
            return bytes
        }
    }

    private func repeats(_ count: Int, using random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard !bytes.isEmpty, Int.random(in: 0..<3, using: &random) > 0 else {
                bytes.append(UInt8.random(in: 0...255, using: &random))
                continue
            }
            let farthest = Bool.random(using: &random) ? min(bytes.count, 40) : bytes.count
            let distance = Int.random(in: 1...farthest, using: &random)
            for _ in 0..<Int.random(in: 3...(Bool.random(using: &random) ? 20 : 600), using: &random) {
                bytes.append(bytes[bytes.count - distance])
            }
        }
        return Array(bytes.prefix(count))
    }

    private static let files: [[UInt8]] = {
        guard let corpus = ProcessInfo.processInfo.environment["TYPED_CACHE_CORPUS"] else { return [] }
        let names = FileManager.default.enumerator(atPath: corpus)?.compactMap { $0 as? String } ?? []
        return names.sorted().compactMap { FileManager.default.contents(atPath: corpus + "/" + $0).map(Array.init) }
            .filter { !$0.isEmpty }
    }()
}
