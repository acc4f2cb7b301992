import Foundation
import TypedCache

/// The command that the arguments ask for.
enum WorkerCommand {
    case help
    case work(WorkerSettings)
    case torture(TortureOptions)
    case fork(Forking)
    case models(ModelWorker)
    case many(ManyCaches)

    static let helpText = """
        Processes that work on one cache, and others that kill, crowd and starve them.

          CacheWorker torture [PART …] [OPTION …]     the parts are kills, processes, following, behind, limits,
                                                      counters, disk, merges, erasures and shared; all if none
                                                      is named
            --minutes M     how long all parts take together, 5 if not told otherwise
            --seconds S     the same in seconds
            --layout L      “packed” or “files”; both, each for half of the time, if not told otherwise
            --kills N       no more than so many kills in each part that kills
            --processes N   so many processes at once on one cache, 8 if not told otherwise
            --seed S        what is done, and when; a new one for each run if not told otherwise
            --scratch DIR   where caches and logs lie; a temporary folder if not told otherwise
            --json          the result as JSON on standard output, and prose on standard error

          CacheWorker work --directory DIR --log FILE --writer N [--name NAME] [--seed S] [--keys K,…] [--reads K,…]
              [--layout packed|files] [--mix all|filling|flushing|counting|sharing] [--memory] [--follow] [--publish] [--bytes N] [--count N] [--behind N] [--server URL]
            does what standard input says: save KEY, fetch KEY, load KEY, contains KEY, remove KEY, removeAll,
            removeTagged TAG, keys, count, flush, increment KEY, change KEY, trim BYTES, and “run UNTIL” for operations of its own until a
            moment of the monotonic clock, in nanoseconds

          CacheWorker fork --directory DIR [--layout packed|files] [--behind N]
            forks with an open cache, has parent and children use it, and tells what is wrong then

          CacheWorker many --directory DIR [--layout packed|files] [--count N] [--descriptors N]
            opens 1,000 caches in a process that may have 256 descriptors, uses each several times, and tells what fails

          CacheWorker models merging|erasing --directory DIR [--first N]
            merges numbered answers into the models of an account, or erases it, again and again, until it is killed

        torture ends with 0 if nothing is wrong, with 1 if something is: what shows it is kept then, and told. With 2
        if the arguments are not understood.
        """

    init(_ arguments: [String]) throws {
        var words = arguments[...]
        let command = words.popFirst()
        if command == nil || command == "help" || arguments.contains("--help") {
            self = .help
            return
        }
        func next(after option: String) throws -> String {
            guard let word = words.popFirst() else { throw TortureError("\(option) needs a value") }
            return word
        }
        func number<Number: LosslessStringConvertible & Comparable>(
            after option: String,
            from least: Number
        ) throws -> Number {
            let word = try next(after: option)
            guard let number = Number(word), number >= least else {
                throw TortureError("\(option) \(word) is no such number")
            }
            return number
        }
        func layout(after option: String) throws -> DiskSettings.Layout {
            let word = try next(after: option)
            guard let layout = DiskSettings.Layout(rawValue: word) else { throw TortureError("what is \(word)?") }
            return layout
        }
        switch command {
        case "work":
            var settings = WorkerSettings(directory: "", log: "", writer: 0)
            while let word = words.popFirst() {
                switch word {
                case "--directory": settings.directory = try next(after: word)
                case "--layout": settings.layout = try layout(after: word)
                case "--name": settings.name = try next(after: word)
                case "--log": settings.log = try next(after: word)
                case "--writer": settings.writer = try number(after: word, from: 0)
                case "--seed": settings.seed = try number(after: word, from: 0)
                case "--keys": settings.keys = try next(after: word).split(separator: ",").map(String.init)
                case "--reads":
                    settings.readKeys = try next(after: word).split(separator: ",").map(String.init)
                case "--mix":
                    let name = try next(after: word)
                    guard let mix = OperationMix(rawValue: name) else { throw TortureError("what is \(name)?") }
                    settings.mix = mix
                case "--memory": settings.usesMemory = true
                case "--follow": settings.followsOthers = true
                case "--publish": settings.publishes = true
                case "--bytes": settings.byteLimit = try number(after: word, from: 0)
                case "--count": settings.countLimit = try number(after: word, from: 0)
                case "--behind": settings.deferredByteCount = try number(after: word, from: 0)
                case "--server": settings.server = try next(after: word)
                default: throw TortureError("what is \(word)?")
                }
            }
            if settings.directory.isEmpty || settings.log.isEmpty {
                throw TortureError("--directory and --log are needed")
            }
            self = .work(settings)
        case "fork":
            var forking = Forking(directory: URL(filePath: ""), disk: DiskSettings())
            while let word = words.popFirst() {
                switch word {
                case "--directory": forking.directory = URL(filePath: try next(after: word))
                case "--layout": forking.disk.layout = try layout(after: word)
                case "--behind":
                    forking.disk.writing = .behind(limit: .bytes(try number(after: word, from: 0)))
                default: throw TortureError("what is \(word)?")
                }
            }
            self = .fork(forking)
        case "many":
            var many = ManyCaches(directory: URL(filePath: ""), disk: DiskSettings())
            while let word = words.popFirst() {
                switch word {
                case "--directory": many.directory = URL(filePath: try next(after: word))
                case "--layout": many.disk.layout = try layout(after: word)
                case "--count": many.count = try number(after: word, from: 1)
                case "--descriptors": many.descriptorLimit = try number(after: word, from: 32)
                default: throw TortureError("what is \(word)?")
                }
            }
            self = .many(many)
        case "models":
            let name = try next(after: command ?? "")
            guard let work = ModelWorker.Work(rawValue: name) else { throw TortureError("what is \(name)?") }
            var worker = ModelWorker(work: work, directory: URL(filePath: ""), first: 0)
            while let word = words.popFirst() {
                switch word {
                case "--directory": worker.directory = URL(filePath: try next(after: word))
                case "--first": worker.first = try number(after: word, from: 0)
                default: throw TortureError("what is \(word)?")
                }
            }
            self = .models(worker)
        case "torture":
            var options = TortureOptions()
            while let word = words.popFirst() {
                switch word {
                case "--minutes": options.seconds = try number(after: word, from: 0.0) * 60
                case "--seconds": options.seconds = try number(after: word, from: 0)
                case "--layout": options.layout = try layout(after: word)
                case "--kills": options.kills = try number(after: word, from: 1)
                case "--processes": options.processCount = try number(after: word, from: 1)
                case "--seed": options.seed = try number(after: word, from: 0)
                case "--scratch": options.scratch = try next(after: word)
                case "--json": options.printsJSON = true
                default:
                    guard let part = TortureOptions.Part(rawValue: word) else {
                        throw TortureError("what is \(word)?")
                    }
                    options.parts.append(part)
                }
            }
            self = .torture(options)
        default:
            throw TortureError("what is \(command ?? "")? One of: torture, work, fork, many, models, help")
        }
    }
}
