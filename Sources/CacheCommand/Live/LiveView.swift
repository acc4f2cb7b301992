import KeyedArchive

/// How a person looks at the live view: order, filter, place. Changed by keys alone.
struct LiveView: Sendable, Equatable {
    enum Order: String, Sendable, CaseIterable {
        case cache, process, ratio, hits, misses, saves, evictions, loads, memory, disk
    }

    enum Mode: Sendable, Equatable {
        case rows
        /// A filter is being typed.
        case filtering
        case help
    }

    var order = Order.cache
    var isReversed = false
    var filter = ""
    var mode = Mode.rows
    var isPaused = false
    /// How many rows are scrolled past.
    var offset = 0

    /// The longest filter, in characters.
    private static let longestFilter = 100

    enum Request: Equatable {
        case draw
        case quit
        case suspend
    }

    /// Acts on a key; `nil` if it has no meaning.
    mutating func press(_ key: LiveKey) -> Request? {
        switch (mode, key) {
        case (_, .interrupt): return .quit
        case (_, .suspend): return .suspend
        case (_, .redraw): break
        case (.filtering, .enter): mode = .rows
        case (.filtering, .escape):
            mode = .rows
            filter = ""
        case (.filtering, .backspace): if !filter.isEmpty { filter.removeLast() }
        case (.filtering, .character(let character)):
            offset = 0
            if filter.count < Self.longestFilter { filter.append(character) }
        case (.help, .character("q")), (.help, .escape), (.help, .enter), (.help, .character("?")),
            (.help, .character("h")):
            mode = .rows
        case (.rows, _): return pressInRows(key)
        default: return nil
        }
        return .draw
    }

    private mutating func pressInRows(_ key: LiveKey) -> Request? {
        switch key {
        case .character("q"): return .quit
        case .character("?"), .character("h"): mode = .help
        case .character("/"): mode = .filtering
        case .character("s"): turnOrder(by: 1)
        case .character("S"): turnOrder(by: -1)
        case .character("r"): isReversed.toggle()
        case .character(" "), .character("p"): isPaused.toggle()
        case .escape: filter = ""
        case .up, .character("k"): offset = max(0, offset - 1)
        case .down, .character("j"): offset += 1
        default: return nil
        }
        return .draw
    }

    private mutating func turnOrder(by step: Int) {
        let all = Order.allCases
        let place = all.firstIndex(of: order) ?? 0
        order = all[(place + step + all.count) % all.count]
    }

    /// The rows to show, in their order.
    func chosen(_ rows: [LiveRow]) -> [LiveRow] {
        let wanted = filter.lowercased()
        let matching = rows.filter { row in
            if wanted.isEmpty { return true }
            let texts = [
                row.process.cache, row.process.app ?? "", row.process.statistics.program,
                String(row.process.statistics.processIdentifier),
            ]
            return texts.contains { $0.lowercased().contains(wanted) }
        }
        let sorted = matching.sorted { isReversed ? isBefore($1, $0) : isBefore($0, $1) }
        return sorted
    }

    /// Numbers: the largest first. Equal ones are in the order of their names.
    private func isBefore(_ one: LiveRow, _ other: LiveRow) -> Bool {
        if let (number, otherNumber) = numbers(one, other), number != otherNumber { return number > otherNumber }
        return names(one).lexicographicallyPrecedes(names(other)) { $0.utf8.lexicographicallyPrecedes($1.utf8) }
    }

    private func names(_ row: LiveRow) -> [String] {
        let process = [row.process.statistics.program, String(row.process.statistics.processIdentifier)]
        let cache = [row.process.app ?? "", row.process.cache]
        return order == .process ? process + cache : cache + process
    }

    private func numbers(_ one: LiveRow, _ other: LiveRow) -> (Double, Double)? {
        func both(_ number: (LiveRow) -> Double?) -> (Double, Double) { (number(one) ?? -1, number(other) ?? -1) }
        switch order {
        case .cache, .process: return nil
        case .ratio: return both { $0.hitRatio }
        case .hits: return both { row in row.rates.map { $0.memoryHits + $0.diskHits } }
        case .misses: return both { $0.rates?.misses }
        case .saves: return both { $0.rates?.saves }
        case .evictions: return both { $0.rates?.evictions }
        case .loads: return both { $0.rates?.loads }
        case .memory: return both { row in row.figures.memory.byteCount.map(Double.init) }
        case .disk: return both { row in row.figures.disk.byteCount.map(Double.init) }
        }
    }
}

/// A key of a keyboard.
enum LiveKey: Sendable, Equatable {
    case character(Character)
    case enter, escape, backspace, up, down
    /// Ctrl-C.
    case interrupt
    /// Ctrl-Z.
    case suspend
    /// Ctrl-L.
    case redraw

    /// The keys in the bytes that a terminal gives for them; unknown sequences are left out.
    static func keys(_ bytes: [UInt8]) -> [LiveKey] {
        var keys: [LiveKey] = []
        var rest = bytes[...]
        while let byte = rest.popFirst() {
            switch byte {
            case 3: keys.append(.interrupt)
            case 26: keys.append(.suspend)
            case 12: keys.append(.redraw)
            case 10, 13: keys.append(.enter)
            case 8, 127: keys.append(.backspace)
            case 27: if let key = sequence(&rest) { keys.append(key) }
            case 0..<32: break
            default:
                var text = [byte]
                while text.count < 4, let next = rest.first, next & 0xC0 == 0x80 {
                    text.append(next)
                    rest = rest.dropFirst()
                }
                // Bytes that are not UTF-8 are not a key.
                if let text = String(validating: text, as: UTF8.self) {
                    keys += text.filter { !$0.unicodeScalars.contains(where: \.isHostile) }.map { .character($0) }
                }
            }
        }
        return keys
    }

    /// The key after an escape character; a sequence ends with a letter or `~`.
    private static func sequence(_ rest: inout ArraySlice<UInt8>) -> LiveKey? {
        guard let first = rest.first else { return .escape }
        guard first == UInt8(ascii: "[") || first == UInt8(ascii: "O") else { return .escape }
        rest = rest.dropFirst()
        while let byte = rest.popFirst() {
            switch byte {
            case UInt8(ascii: "A"): return .up
            case UInt8(ascii: "B"): return .down
            case 0x40...0x7E: return nil
            default: continue
            }
        }
        return nil
    }
}
