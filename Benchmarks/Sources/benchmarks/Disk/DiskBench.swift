import BenchmarkKit

/// Compares kinds of stores at articles of one size.
struct DiskBench {
    /// The length of the articles' text.
    struct TextSize {
        static let oneKibibyte = TextSize(name: "1 KiB", byteCount: 1 << 10)
        static let all = [
            TextSize(name: "256 B", byteCount: 256),
            .oneKibibyte,
            TextSize(name: "10 KiB", byteCount: 10 << 10),
            TextSize(name: "100 KiB", byteCount: 100 << 10),
        ]

        let name: String
        let byteCount: Int
    }

    private static let entryCount = 1_000

    private let context: Context
    private let kinds: [DiskKind]
    private let text: TextSize
    private let items: [DiskItem]
    private let areBytesOnly: Bool
    private let noun: String
    private let suffix: String

    /// - Parameter kinds: either all wait for the disk, or none; likewise, all take bytes, or none.
    init(_ context: Context, _ kinds: [DiskKind], text: TextSize) throws {
        self.context = context
        self.kinds = kinds
        self.text = text
        items = try DiskItem.make(textByteCount: text.byteCount)
        areBytesOnly = kinds.contains(where: \.isBytesOnly)
        noun = areBytesOnly ? "an entry's bytes" : "an entry"
        suffix = kinds.contains(where: \.waitsForDisk) ? ", and wait for the disk" : ""
    }

    // MARK: At 1,000 entries

    func compareSaves() throws {
        try compare("save \(noun)\(suffix)", subjects { try save($0, $1, under: $1) })
    }

    func compareOverwrites() throws {
        let subjects = try subjects { contestant, index in
            // Each time another article than before.
            try save(contestant, index + index / Self.entryCount, under: index % Self.entryCount)
        }
        try compare("save over \(noun)\(suffix)", subjects)
    }

    func compareRemovals() throws {
        let subjects = try subjects { contestant, indices in
            try contestant.together { for index in indices { try save(contestant, index, under: index) } }
        } operation: { contestant, index in
            try contestant.remove(forKey: DiskItem.keys[index])
        }
        try compare("remove \(noun)\(suffix)", subjects)
    }

    func compareFetches() throws {
        let subjects = try kinds.map { kind in
            let contestant = try kind.open(context.makeFolder("fetch"))
            try contestant.fill(Self.entryCount, with: items)
            return Subject(kind.name, isOurs: kind.isOurs) {
                try contestant.fetchExisting($0, of: Self.entryCount)
            }
        }
        try compare("fetch \(noun), of 1,000", subjects)
    }

    private func subjects(
        prepare: ((any DiskContestant, Range<Int>) throws -> Void)? = nil,
        operation: @escaping (any DiskContestant, Int) throws -> Void
    ) throws -> [Subject] {
        // A sample may repeat work that takes up space only so often.
        let limits = text.byteCount > 50_000 ? (files: 100, others: 100) : (files: 500, others: 5_000)
        return try kinds.map { kind in
            let contestant = try kind.open(context.makeFolder("disk"))
            return Subject(
                kind.name,
                isOurs: kind.isOurs,
                limit: kind.isFiles ? limits.files : limits.others,
                prepare: prepare.map { prepare in { try prepare(contestant, $0) } },
                operation: { try operation(contestant, $0) }
            )
        }
    }

    private func save(_ contestant: any DiskContestant, _ index: Int, under key: Int) throws {
        try contestant.save(items[index % items.count], forKey: DiskItem.keys[key])
    }

    private func compare(_ work: String, _ subjects: [Subject]) throws {
        try compare(work, parameters: ["text": text.name], subjects)
    }

    // MARK: At any number of entries

    /// Compares how long it takes to open a store and fetch one entry, and to fetch and save over entries then.
    func compareOpening(entryCount: Int) throws {
        var opening: [Subject] = []
        var fetching: [Subject] = []
        var saving: [Subject] = []
        for kind in kinds {
            context.progress("\(entryCount) entries: \(kind.name)")
            let folder = try context.makeFolder("open")
            try kind.open(folder).fill(entryCount, with: items)
            opening.append(
                Subject(kind.name, isOurs: kind.isOurs) { index in
                    try kind.open(folder).fetchExisting(index, of: entryCount)
                }
            )
            // Opened when it is first used, for not all stores may be open twice.
            var contestant: (any DiskContestant)?
            func opened() throws -> any DiskContestant {
                let open = try contestant ?? kind.open(folder)
                contestant = open
                return open
            }
            fetching.append(
                Subject(kind.name, isOurs: kind.isOurs) { try opened().fetchExisting($0, of: entryCount) }
            )
            saving.append(
                Subject(kind.name, isOurs: kind.isOurs, limit: kind.isFiles ? 500 : 5_000) { index in
                    try opened().saveOver(index, of: entryCount, with: items)
                }
            )
        }
        let object = areBytesOnly ? "an entry's bytes, \(text.name)" : "an entry of \(text.name)"
        let parameters = ["entries": "\(entryCount)"]
        try compare("open and fetch \(object)", parameters: parameters, opening)
        try compare("fetch \(object)", parameters: parameters, fetching)
        try compare("save over \(object)", parameters: parameters, saving)
    }

    private func compare(_ work: String, parameters: [String: String], _ subjects: [Subject]) throws {
        try context.compare(work: work, parameters: parameters, subjects: subjects)
        if areBytesOnly { DiskKind.recordMissing(work: work, parameters: parameters, in: context) }
    }
}
