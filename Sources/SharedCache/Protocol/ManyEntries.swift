import ArchiveStore
import RedisWire

// Calls about many entries: the commands for all of them go out together, and their answers come back together.

/// Saves entries without a condition. The outcome has the result of each, in their order.
struct SaveEntries: EntryCall {
    let news: [NewEntry]
    let action = SaveEntry.saving

    var changes: EntryChanges {
        EntryChanges(byScripts: news.filter { !$0.parts.isEmpty }.map(\.key), areReplicated: true)
    }

    func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        let start = names.start(generation)
        return news.flatMap { new in
            let name = EntryNames.entry(new.key.string, startingWith: start)
            return SaveEntry(new).commands(for: name, names, in: generation)
        }
    }

    func take(_ answers: [RedisValue]) -> EntryStep<[Result<EntryInformation?, StoreError>]> {
        // As many for each entry.
        let width = answers.count / news.count
        return .done(
            news.indices.map { index in
                Result { () throws(StoreError) in
                    for answer in answers[width * index..<width * (index + 1)] {
                        try Engine.check(answer, doing: action)
                    }
                    try Engine.checkSet(answers[width * index + 1], doing: action)
                    return news[index].information
                }
            }
        )
    }
}

/// Looks at entries, and then saves those whose places are taken by none that is to stay.
struct SaveMissingEntries: EntryCall {
    enum Saving {
        case done(Result<EntryInformation?, StoreError>)
        /// The entry could not be looked at, and nothing was sent that changes it.
        case unseen(StoreError)
        /// Others have changed the entry in the meantime.
        case disturbed
    }

    let news: [NewEntry]
    let clock: EngineClock
    let isWanted: (EntryInformation?) -> Bool
    let action = SaveEntry.saving
    private var looks: [Look] = []
    /// Remove each key's entries of older forms.
    private var removingOlder: [[RedisCommand]] = []
    /// Why entries could not be looked at, by their places.
    private var unseen: [Int: StoreError] = [:]
    /// The places of the entries that are being saved; `nil` before that.
    private var wanted: [Int]?

    /// Whether commands may have been sent that change entries.
    var hasSaved: Bool { wanted != nil }

    var changes: EntryChanges {
        guard let wanted else { return EntryChanges() }
        return EntryChanges(byScripts: wanted.map { news[$0].key }, areReplicated: true)
    }

    init(_ news: [NewEntry], _ clock: EngineClock, if isWanted: @escaping (EntryInformation?) -> Bool) {
        self.news = news
        self.clock = clock
        self.isWanted = isWanted
    }

    mutating func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        looks = news.map { Look(at: $0.key, names, in: generation, clock) }
        unseen = [:]
        wanted = nil
        removingOlder = news.map { names.removingOlder($0.key, generation) }
        return looks.flatMap(\.commands)
    }

    mutating func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<[Saving]> {
        guard let wanted else {
            var places: [Int] = []
            for index in looks.indices {
                do throws(StoreError) {
                    try looks[index].take(Array(answers[2 * index..<2 * index + 2]), action)
                    if isWanted(looks[index].information) { places.append(index) }
                } catch {
                    unseen[index] = error
                }
            }
            if places.isEmpty { return .done(unsaved) }
            wanted = places
            return .send(places.flatMap { [script(at: $0)] + removingOlder[$0] })
        }
        var outcomes = unsaved
        // As many for each entry; the first one is the script's.
        let width = answers.count / wanted.count
        for (number, place) in wanted.enumerated() {
            let answer = answers[width * number]
            do throws(StoreError) {
                try Engine.check(answer, doing: action)
                outcomes[place] = answer.integer == 1 ? .done(.success(news[place].information)) : .disturbed
            } catch {
                outcomes[place] = .done(.failure(error))
            }
        }
        return .done(outcomes)
    }
}

extension SaveMissingEntries {
    /// The outcomes of entries that are not saved.
    private var unsaved: [Saving] { news.indices.map { unseen[$0].map { .unseen($0) } ?? .done(.success(nil)) } }

    private func script(at place: Int) -> RedisCommand {
        let new = news[place]
        return looks[place].script.save(new, ifEnding: looks[place].end)
    }
}

/// Looks at entries.
struct LookAtEntries: EntryCall {
    let keys: [StoreKey]
    let clock: EngineClock
    let action = EngineEntry.reading
    private var looks: [Look] = []

    init(_ keys: [StoreKey], _ clock: EngineClock) {
        self.keys = keys
        self.clock = clock
    }

    var outcomeWithoutGeneration: [EntryInformation?]? { keys.map { _ in nil } }

    mutating func begin(_ names: EntryNames, in generation: Generation) -> [RedisCommand] {
        looks = keys.map { Look(at: $0, names, in: generation, clock) }
        return looks.flatMap(\.commands)
    }

    mutating func take(_ answers: [RedisValue]) throws(StoreError) -> EntryStep<[EntryInformation?]> {
        for index in looks.indices { try looks[index].take(Array(answers[2 * index..<2 * index + 2]), action) }
        return .done(looks.map(\.information))
    }
}
