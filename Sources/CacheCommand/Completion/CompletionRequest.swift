import ArchiveStore
import KeyedArchive

/// A command line that is not complete, and the values that its last word may become.
///
/// Everything comes from the declarations of the subcommands; names and keys from the caches. A cache or a directory
/// that cannot be read has nothing to complete with, and is not an error.
struct CompletionRequest {
    /// The words before the cursor's one, without the command's own name.
    let words: [String]
    /// The part of the cursor's word before the cursor.
    let current: String

    /// How many values a shell is given at most.
    static let mostCandidates = 200
    /// How long keys are looked for in a cache.
    static let longestSearch = Duration.milliseconds(250)

    func answer(in environment: CommandEnvironment) -> CompletionAnswer {
        guard let name = words.first else { return Self.overview(current) }
        guard let type = Command.subcommands.first(where: { $0.name == name && !$0.isHidden }) else {
            return CompletionAnswer()
        }
        return CompletionLine(DeclaredArguments(of: type.init()), words: words.dropFirst())
            .answer(to: current, in: environment)
    }

    private static func overview(_ current: String) -> CompletionAnswer {
        var answer = CompletionAnswer()
        if current.hasPrefix("-") {
            for option in [Command.helpOption, Command.versionOption] {
                answer.append(option.spelling, meaning: option.help, ifBeginningWith: current)
            }
        } else {
            answer.appendSubcommands(beginningWith: current)
        }
        return answer
    }
}

/// The values that a word may become, best used as they are: the shell quotes them.
struct CompletionAnswer: Equatable {
    struct Candidate: Equatable {
        let text: String
        /// Empty for a name or key.
        var meaning = ""
    }

    /// Files that the shell completes by itself.
    enum Files: String {
        case none
        case files
        case directories
    }

    var candidates: [Candidate] = []
    var files = Files.none

    mutating func append(_ text: String, meaning: String = "", ifBeginningWith beginning: String) {
        // By bytes, as the shells do.
        guard text.utf8.starts(with: beginning.utf8) else { return }
        candidates.append(Candidate(text: text, meaning: meaning))
    }

    mutating func appendSubcommands(beginningWith beginning: String) {
        for subcommand in Command.listedSubcommands {
            append(subcommand.name, meaning: subcommand.summary, ifBeginningWith: beginning)
        }
    }
}

/// The words of a subcommand's command line, sorted as far as they have come.
struct CompletionLine {
    private let declared: DeclaredArguments
    /// The option that waits for its value.
    private var waiting: (any DeclaredOption)?
    private var operands: [String] = []
    private var hasOperandsOnly = false

    init(_ declared: DeclaredArguments, words: some Sequence<String>) {
        self.declared = declared
        for word in words { take(word) }
    }

    private mutating func take(_ word: String) {
        if let option = waiting {
            option.text = word
            waiting = nil
        } else if hasOperandsOnly || word == "-" || !word.hasPrefix("-") {
            operands.append(word)
        } else if word == "--" {
            hasOperandsOnly = true
        } else if let (option, value) = option(in: word) {
            if let value {
                option.text = value
            } else if option.declaration.placeholder == nil {
                option.text = ""
            } else {
                waiting = option
            }
        }
    }

    /// The option that a word names, and its value if that is in the same word.
    private func option(in word: String) -> (option: any DeclaredOption, value: String?)? {
        let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        let option = declared.allOptions.first { option in
            option.declaration.spelling == parts[0] || option.declaration.letter.map { "-\($0)" == word } ?? false
        }
        return option.map { ($0, parts.count == 2 ? String(parts[1]) : nil) }
    }

    private func text(of name: String) -> String? {
        declared.options.first { $0.declaration.name == name }?.text
    }

    func answer(to current: String, in environment: CommandEnvironment) -> CompletionAnswer {
        if let waiting { return values(CompletionKind(of: waiting), beginningWith: current, in: environment) }
        if !hasOperandsOnly, current.hasPrefix("--"), case (let option, let value?)? = option(in: current) {
            var answer = values(CompletionKind(of: option), beginningWith: value, in: environment)
            let prefix = option.declaration.spelling + "="
            answer.candidates = answer.candidates.map { .init(text: prefix + $0.text, meaning: $0.meaning) }
            return answer
        }
        let operand = declared.operand?.declaration
        let takesOperand = operands.count < operand?.most ?? 0
        if !hasOperandsOnly, !takesOperand || current.hasPrefix("-") { return options(beginningWith: current) }
        guard let operand, takesOperand else { return CompletionAnswer() }
        let kind = CompletionKind(of: operand, hasCache: text(of: "cache") != nil)
        return values(kind, beginningWith: current, in: environment)
    }

    /// The options that may still be given.
    private func options(beginningWith current: String) -> CompletionAnswer {
        var answer = CompletionAnswer()
        for option in declared.allOptions where option.text == nil {
            let declaration = option.declaration
            if declared.alternatives(to: option).contains(where: { $0.text != nil }) { continue }
            answer.append(declaration.spelling, meaning: declaration.help, ifBeginningWith: current)
        }
        return answer
    }

    private func values(
        _ kind: CompletionKind,
        beginningWith current: String,
        in environment: CommandEnvironment
    ) -> CompletionAnswer {
        var answer = CompletionAnswer()
        switch kind {
        case .nothing: break
        case .files: answer.files = .files
        case .directories: answer.files = .directories
        case .words(let words): for word in words { answer.append(word, ifBeginningWith: current) }
        case .caches where current.contains("/"): answer.files = .directories
        case .caches: appendNames((try? environment.backend.names(at: location)) ?? [])
        case .apps: appendNames(environment.backend.apps())
        case .subcommands: answer.appendSubcommands(beginningWith: current)
        case .keys: appendNames(keys(beginningWith: current, in: environment))
        }
        func appendNames(_ names: [String]) {
            for name in names where answer.candidates.count < CompletionRequest.mostCandidates {
                answer.append(name, ifBeginningWith: current)
            }
        }
        return answer
    }

    private var location: CacheLocation {
        let (root, app) = (text(of: "root"), text(of: "app"))
        guard declared.options.contains(where: { $0.declaration.name == "shared" }) else {
            return LocationOptions.location(root: root, app: app)
        }
        let schema = text(of: "schema").flatMap(UInt32.init) ?? 0
        return PlaceOptions.location(root: root, app: app, shared: text(of: "shared"), schema: schema)
    }

    /// Keys of the cache that the command line names, in order; of many, or of a large cache, those that are found
    /// soon. Keys that would be taken for options are left out.
    private func keys(beginningWith current: String, in environment: CommandEnvironment) -> [String] {
        guard let name = text(of: "cache"), !name.isEmpty else { return [] }
        var filter = EntryFilter()
        filter.prefix = current
        let given = Set(operands)
        let end = environment.now() + CompletionRequest.longestSearch
        var keys: [String] = []
        do {
            let cache = try environment.backend.open(CacheSelection(name: name, location: location))
            let date = environment.date()
            var looked = 0
            try cache.forEachListed(until: nil) { entry, _ in
                looked += 1
                if looked % 256 == 0, environment.now() > end { return false }
                guard case .success(let entry) = entry, filter.matches(entry, at: date) else { return true }
                if given.contains(entry.key) || !hasOperandsOnly && entry.key.hasPrefix("-") { return true }
                keys.append(entry.key)
                return keys.count < CompletionRequest.mostCandidates
            }
        } catch {
            // A message would stand in the middle of the line that is typed.
            return keys.sorted()
        }
        return keys.sorted()
    }
}
