/// Does what `remove` says.
struct RemoveCommand {
    let options: KeyOptions

    func run(in environment: CommandEnvironment) throws -> ExitStatus {
        let cache = try environment.backend.open(options.cache)
        var keys = try KeySource(options.keys, environment)
        var removed = 0
        var missing: [String] = []
        var invalid = 0
        while let key = try keys.next() {
            do {
                let key = try key.get()
                if try cache.remove(key) {
                    removed += 1
                } else {
                    missing.append(key)
                    environment.errors.report(CommandFailureMessage(CommandFailure.noEntry(key: key)))
                }
            } catch let bad as BadRecord {
                invalid += 1
                environment.errors.report(BadRecordMessage(bad))
            }
        }
        if options.writesJSON {
            let fields = [
                RecordField(name: "removed", value: .int(Int64(removed))),
                RecordField(name: "missing", value: .array(missing.map(RecordValue.string))),
            ]
            try JSONWriter.write(.object(Record(fields: fields)), isIndented: false, to: environment.output)
        }
        return missing.isEmpty && invalid == 0 ? .success : .failure
    }
}
