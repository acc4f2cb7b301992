import Foundation

/// A row of the table: a kind of object, or a situation.
struct Row {
    let name: String
    let body: (any Coders.Type) throws -> String
}

let rows =
    Kinds.all.map { kind in Row(name: kind.name) { try Kinds.outcome(kind.object(), $0) } }
    + Behaviours.all.map { Row(name: $0.name, body: $0.body) }

/// Runs one row in this process: `probe NUMBER here|foundation`.
func probe(_ row: Row, _ coders: any Coders.Type) {
    do {
        print(try row.body(coders))
    } catch {
        print("error")
    }
}

/// Runs one row in a process of its own, which may end as it likes.
func outcome(_ number: Int, _ implementation: String) throws -> String {
    let process = Process()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0])
    process.arguments = ["probe", "\(number)", implementation]
    process.environment = ["SWIFT_BACKTRACE": "enable=no", "PATH": "/usr/bin:/bin"]
    let pipe = Pipe()
    process.standardOutput = pipe
    process.standardError = FileHandle.nullDevice
    try process.run()
    let identifier = process.processIdentifier
    // A second, and memory, is far more than any of these needs.
    let end = DispatchWorkItem { kill(identifier, SIGKILL) }
    DispatchQueue.global().asyncAfter(deadline: .now() + 10, execute: end)
    let output = pipe.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    end.cancel()
    if process.terminationReason == .uncaughtSignal {
        return process.terminationStatus == SIGKILL ? "does not end" : "ends the process"
    }
    return String(decoding: output, as: UTF8.self).trimmingCharacters(in: .whitespacesAndNewlines)
}

/// The table's cells of a row, by its name: `check FILE` compares them with the actual behaviour.
func cells(in table: String) -> [String: [String]] {
    var found: [String: [String]] = [:]
    for line in table.split(separator: "\n") where line.hasPrefix("| ") {
        let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces) }
        if cells.count >= 3 { found[cells[0]] = cells }
    }
    return found
}

let arguments = CommandLine.arguments.dropFirst().map(\.self)
if arguments.count == 3, arguments[0] == "probe", let number = Int(arguments[1]), rows.indices.contains(number) {
    // Memory is bounded, because some rows would take all there is.
    var limit = rlimit(rlim_cur: 4 << 30, rlim_max: 4 << 30)
    setrlimit(__rlimit_resource_t(RLIMIT_AS.rawValue), &limit)
    probe(rows[number], arguments[2] == "here" ? Here.self : Foundations.self)
    exit(0)
}
let table = try arguments.first.map { cells(in: try String(contentsOfFile: $0, encoding: .utf8)) }
var differences = 0
var waiting = 0
for (number, row) in rows.enumerated() {
    let found = [try outcome(number, "here"), try outcome(number, "foundation")]
    guard let table else {
        print("| \(row.name) | \(found[0]) | \(found[1]) |")
        continue
    }
    let said = table[row.name].map { Array($0[1...2]) } ?? ["no row", "no row"]
    for (column, (said, found)) in zip(["here", "Foundation on Linux"], zip(said, found)) {
        // A cell may have an explanation after the result, or wait for a check.
        if said.contains("TODO-CHECK") {
            waiting += 1
        } else if said != found, !said.hasPrefix("\(found):"), !said.hasPrefix("\(found) (") {
            print("\(row.name), \(column): \(found), and not \(said)")
            differences += 1
        }
    }
}
if table != nil { print("\(rows.count) rows, \(differences) differences, \(waiting) not checked yet") }
exit(differences == 0 ? 0 : 1)
