import Foundation
import ModelCache
import TestSupport

/// Kills one process after another that merges answers into models, or erases an account, and reads the rest.
///
/// A list that is found must name models that are there, and be no older than the last list that was on disk. An
/// account is gone once its erasure was acknowledged; if the erasure was cut off, it is gone after the next opening of
/// any account.
final class ModelTorture {
    private let settings: TortureSettings
    private let work: ModelWorker.Work
    private let folder: URL
    private var random: SeededGenerator
    private var report: PartReport
    /// The number of the last answer that is known to be on disk.
    private var flushed = -1
    private var next = 0
    /// How long a process took from one line to the next, lately: it depends on the machine's load.
    private var step = Duration.milliseconds(5)

    private static let neighbour = "neighbour"
    /// Names of figures.
    private static let read = "models read"
    private static let whole = "whole erasures"

    init(_ settings: TortureSettings, _ work: ModelWorker.Work) throws {
        self.settings = settings
        self.work = work
        report = PartReport(part: work == .merging ? "merges" : "erasures")
        folder = try settings.folder(report.part)
        random = SeededGenerator(seed: settings.seed)
    }

    /// Goes on until time is up, enough were killed, or something is wrong.
    func run() async throws -> PartReport {
        let begin = MonotonicTime.now
        let end = begin.advanced(by: settings.duration)
        var nextProgress = begin
        var round = 0
        let neighbour = try await ModelWorker.open(folder, account: Self.neighbour)
        try await neighbour.save(TorturedAuthor(id: 1, version: 7))
        try await neighbour.close()
        while MonotonicTime.now < end, round < settings.kills, report.violations.isEmpty, !settings.isInterrupted()
        {
            round += 1
            do {
                let found = try await kill()
                report.add(found, "round \(round), seed \(settings.seed)")
            } catch {
                let violation = Violation(law: .failed, evidence: "\(error)")
                report.add([violation], "round \(round), seed \(settings.seed)")
            }
            if nextProgress < .now {
                settings.progress(report.prose(since: begin))
                nextProgress = MonotonicTime.now.advanced(by: .seconds(5))
            }
        }
        // Kills that come before there is anything to judge show nothing.
        if round >= 100, report.figures[work == .merging ? Self.read : Self.whole] == nil {
            report.add([Violation(law: .failed, evidence: "no process came far enough")], "seed \(settings.seed)")
        }
        report.seconds = report.duration(since: begin)
        return report
    }

    private func kill() async throws -> [Violation] {
        let arguments = ["models", work.rawValue, "--directory", folder.path, "--first", "\(next)"]
        let child = KilledChild(executable: settings.executable, arguments)
        // Somewhere within the second to seventh step, or shortly after it.
        let count = Int.random(in: 1...6, using: &random)
        let lines = try child.lines(
            count,
            thenKilledAfter: step * Double.random(in: 0..<1.5, using: &random),
            step: &step
        )
        report.add(1, "kills")
        return switch work {
        case .merging: try await judgeMerges(lines)
        case .erasing: try await judgeErasures(lines)
        }
    }

    // MARK: Merges

    private func judgeMerges(_ lines: [String]) async throws -> [Violation] {
        for line in lines {
            let words = line.split(separator: " ")
            if words.first == "flushed", let number = words.last.flatMap({ Int($0) }) {
                flushed = max(flushed, number)
            }
        }
        let models = try await ModelWorker.open(folder, account: ModelWorker.account)
        let found = try await violations(in: models)
        try await models.close()
        return found
    }

    private func violations(in models: Models) async throws -> [Violation] {
        guard let list = try await models.stored(TorturedList()) else {
            return flushed < 0
                ? [] : [Violation(law: .lost, evidence: "no list, though number \(flushed) was on disk")]
        }
        report.add(list.elements.count, Self.read)
        var found: [Violation] = []
        if !list.holes.isEmpty {
            found.append(Violation(law: .lost, evidence: "the list names models that are not there: \(list.holes)"))
        }
        let number = list.elements.first?.id ?? 0
        next = max(next, number + 1)
        if number < flushed {
            found.append(Violation(law: .lost, evidence: "list \(number), though \(flushed) was on disk"))
        }
        if list.elements.map(\.id) != Array(number..<number + TorturedList.length) {
            found.append(Violation(law: .torn, evidence: "list \(number) has \(list.elements.map(\.id))"))
        }
        let authors = try await models.stored(TorturedAuthor.self, ids: 0..<TorturedList.authors)
        for element in list.elements {
            next = max(next, element.version + 1)
            if element.version < number {
                found.append(
                    Violation(
                        law: .lost,
                        evidence: "list \(number) was saved before article \(element.id): \(element.version)"
                    )
                )
            }
            guard let author = authors[element.author.id]?.value, author.version >= element.version else {
                let evidence = "article \(element.id) of \(element.version) was saved before its author"
                found.append(Violation(law: .lost, evidence: evidence))
                continue
            }
        }
        return found
    }

    // MARK: Erasures

    private func judgeErasures(_ lines: [String]) async throws -> [Violation] {
        var found: [Violation] = []
        for line in lines {
            if let number = line.split(separator: " ").last.flatMap({ Int($0) }) { next = max(next, number + 1) }
            if line.hasPrefix("erased") { report.add(1, Self.whole) }
        }
        func names() throws -> Set<String> {
            Set(try FileManager.default.contentsOfDirectory(atPath: folder.path))
        }
        if lines.last?.hasPrefix("erased") == true {
            report.add(1, "of them after an erasure")
            let left = try names().subtracting([Self.neighbour])
            // The next one may have begun, but not yet said so.
            if left.contains(where: { $0 != ModelWorker.account }) {
                found.append(Violation(law: .phantom, evidence: "after an erasure there is \(left.sorted())"))
            }
        }
        // The next opening, of any account, finishes an erasure that was cut off.
        let neighbour = try await ModelWorker.open(folder, account: Self.neighbour)
        let other = try await neighbour.stored(TorturedAuthor.self, id: 1)?.value
        if other != TorturedAuthor(id: 1, version: 7) {
            found.append(Violation(law: .lost, evidence: "the neighbour's model is \(String(describing: other))"))
        }
        try await neighbour.close()
        let left = try names().subtracting([Self.neighbour, ModelWorker.account])
        if !left.isEmpty {
            found.append(Violation(law: .drafts, evidence: "after the next opening there is \(left.sorted())"))
        }
        let models = try await ModelWorker.open(folder, account: ModelWorker.account)
        if let author = try await models.stored(TorturedAuthor.self, id: 1)?.value {
            report.add(1, "of them before an erasure")
            if author.version >= next {
                found.append(Violation(law: .phantom, evidence: "the author is of \(author.version)"))
            }
        }
        try await models.close()
        return found
    }
}

/// A process that is killed some time after it has said some lines.
private struct KilledChild {
    let process = Process()
    let output = Pipe.make()

    init(executable: URL, _ arguments: [String]) {
        process.executableURL = executable
        process.arguments = arguments
        process.standardOutput = output
    }

    /// Its whole lines on standard output, at least `count` of them.
    ///
    /// - Parameter step: is set to the mean time from one line to the next, where there are several.
    /// - Throws: ``TortureError`` if it ends by itself.
    func lines(_ count: Int, thenKilledAfter delay: Duration, step: inout Duration) throws -> [String] {
        let ended = DispatchSemaphore(value: 0)
        process.terminationHandler = { _ in ended.signal() }
        try process.start()
        try output.fileHandleForWriting.close()
        var text = output.fileHandleForReading.availableData
        let begin = MonotonicTime.now
        var lineCount: Int { text.count { $0 == UInt8(ascii: "\n") } }
        while lineCount < count {
            let more = output.fileHandleForReading.availableData
            if more.isEmpty { break }
            text += more
        }
        if lineCount > 1 { step = min(begin.duration(to: .now) / (lineCount - 1), .seconds(1)) }
        MonotonicTime.now.advanced(by: delay).wait()
        Foundation.kill(process.processIdentifier, SIGKILL)
        while let more = try output.fileHandleForReading.readToEnd(), !more.isEmpty { text += more }
        ended.wait()
        // At once, for the process object outlives this: with some thousand of them open, Foundation's own sockets fail.
        try output.fileHandleForReading.close()
        guard process.terminationReason == .uncaughtSignal else {
            throw TortureError("a process ended by itself with \(process.terminationStatus)")
        }
        let lines = String(decoding: text, as: UTF8.self).split(separator: "\n", omittingEmptySubsequences: false)
        return lines.dropLast().map(String.init)
    }
}
