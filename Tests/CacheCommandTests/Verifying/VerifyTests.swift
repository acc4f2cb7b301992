import Foundation
import Testing

@testable import CacheCommand

struct VerifyTests {
    private let cache: DiskCache

    init() throws {
        cache = DiskCache(try Workspace())
        for index in 0..<5 { try cache.save(DiskCache.archive("\(index)"), "key \(index)") }
        let past = DiskCache.attributes(expiresAt: .now.addingTimeInterval(-1))
        try cache.save(DiskCache.archive("old"), "old", with: past)
    }

    private func everyFile() throws -> [String: Data] {
        let paths = cache.files()
        return try Dictionary(
            uniqueKeysWithValues: paths.map { ($0, try Data(contentsOf: URL(fileURLWithPath: $0))) }
        )
    }

    @Test("Sound entries are counted, and expired ones apart")
    func sound() {
        let run = cache.run("verify")
        #expect(run.status == .success && run.output.text == "5 sound, 1 expired, 0 damaged\n")
        let repair = cache.run("verify", "--repair", "--json")
        #expect(repair.status == .success)
        #expect(
            repair.output.text
                == #"{"sound":5,"expired":1,"damaged":0,"unreadable":0,"removed":0,"interrupted":false,"findings":[]}"#
                + "\n"
        )
    }

    @Test("Every damaged byte is told with its place, nothing is changed, and --repair removes what was told")
    func damage() throws {
        let whole = try everyFile()
        for (path, data) in whole.sorted(by: { $0.key < $1.key }).prefix(2) {
            // A segment's records are found without its header.
            let isSegment = path.hasSuffix(".segment")
            for position in stride(from: isSegment ? 80 : 0, to: data.count, by: 7) {
                var bytes = data
                bytes[position] ^= 0x40
                try bytes.write(to: URL(fileURLWithPath: path))
                let damaged = try everyFile()
                let run = cache.run("verify")
                #expect(run.status == .failure, "byte \(position)")
                #expect(
                    run.output.text.hasPrefix("damaged  ") && run.output.lines[0].contains(path),
                    "byte \(position)"
                )
                #expect(run.output.text.hasSuffix(", 1 damaged\n"), "byte \(position): \(run.output.text)")
                #expect(try everyFile() == damaged)
            }
            let repair = cache.run("verify", "--repair")
            #expect(repair.status == .failure && repair.output.text.hasSuffix(", 1 damaged, 1 removed\n"))
            #expect(isSegment || !FileManager.default.fileExists(atPath: path))
            #expect(cache.run("verify").status == .success)
            try data.write(to: URL(fileURLWithPath: path))
            // Where entries are now is found again in the segments.
            let index = URL(fileURLWithPath: path).deletingLastPathComponent().appending(path: "index")
            if isSegment { try FileManager.default.removeItem(at: index) }
        }
        #expect(cache.run("verify").output.text == "5 sound, 1 expired, 0 damaged\n")
    }

    @Test("What is rightly sealed but no archive is damaged too, and goes alone")
    func noArchive() throws {
        try cache.save(Array("no archive".utf8), "x\n")
        try cache.save(Array(DiskCache.archive("cut").dropLast(10)), "y")
        let before = try everyFile()
        let run = cache.run("verify")
        #expect(run.status == .failure && run.output.text.hasSuffix("5 sound, 1 expired, 2 damaged\n"))
        #expect(run.output.text.contains("damaged  'x\\n': no keyed archive: "))
        #expect(try everyFile() == before)
        let json = cache.run("verify", "--repair", "--json").output.text
        #expect(
            json.contains(#""damaged":2,"unreadable":0,"removed":2"#) && json.contains(#""key":"x\n","place":null"#)
        )
        #expect(cache.run("verify").output.text == "5 sound, 1 expired, 0 damaged\n")
    }

    @Test("A reader that has gone leaves the verdict as it is")
    func closedOutput() throws {
        func verify(_ words: String...) -> CacheCommand.ExitStatus {
            ToolRun(["verify"] + words + cache.options, on: DiskCache.backend, output: MemoryOutput(room: 0)).status
        }
        #expect(verify() == .success && verify("--json") == .success)
        try cache.damageFirst()
        #expect(verify() == .failure && verify("--json") == .failure && verify("--repair") == .failure)
        #expect(cache.run("verify").status == .success)
    }

    @Test("Stopped, it removes nothing")
    func interrupted() throws {
        try cache.save([1], "x")
        let before = try everyFile()
        let interruption = TestInterruption()
        interruption.arrive(15)
        let run = cache.run("verify", "--repair", interruption: interruption)
        #expect(run.status == .signal(15) && run.output.text == "0 sound, 0 expired, 0 damaged, interrupted\n")
        #expect(try everyFile() == before)
    }

    @Test("Compacting removes what has expired and nothing else")
    func compact() throws {
        let contents = try cache.contents().filter { $0.value.attributes.expiresAt == nil }
        let run = cache.run("compact")
        #expect(run.status == .success && run.output.text.hasPrefix("1 expired entry removed, "))
        #expect(try cache.contents() == contents && contents.count == 5)
    }
}
