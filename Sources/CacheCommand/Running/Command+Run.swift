import KeyedArchive

extension Command {
    /// Runs the command.
    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        switch self {
        case .warm(let options):
            return try WarmCommand(options: options).run(in: environment)
        case .list(let options):
            return try list(options, environment)
        case .get(let options):
            return try GetCommand(options: options).run(in: environment)
        case .stats(let options):
            return try stats(options, environment)
        case .verify(let options):
            return try VerifyCommand(options: options).run(in: environment)
        case .export(let options):
            return try ExportCommand(options: options).run(in: environment)
        case .import(let options):
            return try ImportCommand(options: options).run(in: environment)
        case .remove(let options):
            return try RemoveCommand(options: options).run(in: environment)
        case .trim(let options):
            return try trim(options, environment)
        case .compact(let options):
            return try compact(options, environment)
        case .clear(let options):
            return try clear(options, environment)
        case .dump(let options):
            let outline =
                switch options.source {
                case .file(let path): try environment.backend.dump(path)
                case .entry(let key, let cache):
                    ArchiveOutline(try environment.backend.open(cache).tree(of: key, at: environment.date()))
                }
            try environment.output.write(options.writesJSON ? Self.line(outline.json) : outline.description)
        case .help(let text):
            try environment.output.write(text.description)
        case .version:
            try environment.output.write("typed-cache \(CommandVersion.current)\n")
        }
        return .success
    }

    private func list(_ options: ListOptions, _ environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(options.cache)
        var entries = try cache.entries().sorted { $0.key.utf8.lexicographicallyPrecedes($1.key.utf8) }
        if options.writesJSON || options.isLong { entries = cache.namingModels(entries, at: environment.date()) }
        if options.writesJSON {
            try JSONWriter.write(.array(entries.map(\.json)), isIndented: true, to: environment.output)
        } else if options.isNull {
            for entry in entries { try environment.output.write("\(entry.key)\0") }
        } else if options.isLong {
            try environment.output.write(CacheEntry.table(entries).description)
        } else {
            for entry in entries { try environment.output.write("\(SafeText(entry.key))\n") }
        }
        return .success
    }

    private func stats(_ options: StatsOptions, _ environment: CommandEnvironment) throws -> ExitStatus {
        let statistics = try environment.backend.open(options.cache).statistics()
        try environment.output.write(options.writesJSON ? Self.line(statistics.json) : statistics.prose)
        return .success
    }

    private func trim(_ options: TrimOptions, _ environment: CommandEnvironment) throws -> ExitStatus {
        let trimmed = try environment.backend.open(options.cache).trim(to: options.size)
        if options.writesJSON {
            let fields = [
                RecordField(name: "expired", value: .int(Int64(trimmed.expiredCount))),
                RecordField(name: "evicted", value: .int(Int64(trimmed.evictedCount))),
            ]
            try environment.output.write(Self.line(.object(Record(fields: fields))))
        } else {
            let counts = "\(CountText(trimmed.expiredCount, "expired entry", "expired entries")) removed, "
            try environment.output.write(counts + "\(CountText(trimmed.evictedCount)) others given up\n")
        }
        return .success
    }

    private func compact(_ options: CompactOptions, _ environment: CommandEnvironment) throws -> ExitStatus {
        let summary = try environment.backend.open(options.cache).compact()
        try environment.output.write(options.writesJSON ? Self.line(summary.json) : summary.prose + "\n")
        return .success
    }

    private func clear(_ options: ClearOptions, _ environment: CommandEnvironment) throws -> ExitStatus {
        if !options.isConfirmed {
            guard let confirm = environment.confirm else { throw CommandFailure.unconfirmed }
            let question = "Remove all entries of the cache '\(SafeText(options.cache.name, limit: 200))'?"
            guard confirm(question) else { return .failure }
        }
        let count = try environment.backend.open(options.cache).removeAll()
        if options.writesJSON {
            let fields = [RecordField(name: "removed", value: .int(Int64(count)))]
            try environment.output.write(Self.line(.object(Record(fields: fields))))
        }
        return .success
    }

    private static func line(_ value: RecordValue, isIndented: Bool = false) -> String {
        JSONWriter.text(value, isIndented: isIndented) + "\n"
    }
}
