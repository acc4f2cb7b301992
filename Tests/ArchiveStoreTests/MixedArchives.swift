import TestSupport

@testable import ArchiveStore

/// Archives of noise, which does not shrink, and text, which does: alone and in every order.
enum MixedArchives: CaseIterable {
    case noise
    case text
    case noiseThenText
    case textThenNoise
    case alternating

    /// Lengths at which something else is done: nothing to deflate, small streams, samples, blocks, parts.
    static let byteCounts = [
        0, 1, 300, 2_048, 2_049, 65_534, 65_536, 131_071, 262_140, 300_000, 524_279, 524_280, 524_281, 1_200_000,
    ]

    /// Of so many bytes, the same ones for the same seed.
    func make(byteCount: Int, seed: Int) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        func noise(_ count: Int) -> [UInt8] { Self.noise(count, using: &random) }
        let part = byteCount == 0 ? 0 : Int.random(in: 0...byteCount, using: &random)
        switch self {
        case .noise: return noise(byteCount)
        case .text: return Self.text(byteCount)
        case .noiseThenText: return noise(part) + Self.text(byteCount - part)
        case .textThenNoise: return Self.text(part) + noise(byteCount - part)
        case .alternating:
            let period = Int.random(in: 1_000...300_000, using: &random)
            var bytes: [UInt8] = []
            while bytes.count < byteCount { bytes += noise(period) + Self.text(period) }
            return Array(bytes.prefix(byteCount))
        }
    }

    static func noise(_ count: Int, using random: inout SeededGenerator) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 8)
        while bytes.count < count { withUnsafeBytes(of: random.next()) { bytes += $0 } }
        return Array(bytes.prefix(count))
    }

    static func text(_ count: Int) -> [UInt8] {
        let line = Array("The harbour opens at six, and closes when the last ship has left its berth. ".utf8)
        var bytes: [UInt8] = []
        bytes.reserveCapacity(count + 100)
        var number = 0
        while bytes.count < count {
            number += 1
            bytes += line
            bytes += Array("\(number * number)".utf8)
        }
        return Array(bytes.prefix(count))
    }
}
