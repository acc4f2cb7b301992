import Foundation
import TestSupport
import Testing

@testable import CacheCommand

/// The caches on disk that `warm` and `import` fill.
struct WarmedCacheTests {
    private let workspace: Workspace
    private let cache: DiskCache

    init() throws {
        workspace = try Workspace()
        cache = DiskCache(workspace)
    }

    private func lines(_ numbers: ClosedRange<Int>) -> String { numbers.map { #"{"id":\#($0)}"# + "\n" }.joined() }

    @Test("Entries that are evicted for a limit are counted", arguments: ["packed", "files"])
    func evicted(layout: String) throws {
        func warm(_ words: String...) -> ToolRun {
            let all = ["warm", "-", "--key", "id", "--layout", layout] + words + cache.options
            return ToolRun(all, on: DiskCache.backend, input: lines(1...500))
        }
        let prose = warm("--max-size", "8K")
        #expect(prose.status == .success)
        let left = try cache.contents().count
        #expect(left < 500)
        let counted = "500 records read, 500 saved, 0 invalid, \(500 - left) evicted for the limit, in "
        #expect(prose.errors.text.hasPrefix(counted), "\(prose.errors.text)")
        let json = warm("--max-size", "8K", "--json").output.text
        let number = try #require(json.firstMatch(of: /"evicted":([0-9]+)/)).1
        #expect(Int(number) ?? 0 >= 400 && !warm().errors.text.contains("evicted"), "\(json)")
        #expect(warm("--json").output.text.contains(#""evicted":0,"#))
    }

    @Test("Another layout than the cache has is refused, also by a dry run", arguments: ["warm", "import"])
    func otherLayout(name: String) throws {
        let warm = ["warm", "-", "--key", "id", "--layout", "files"]
        #expect(ToolRun(warm + cache.options, on: DiskCache.backend, input: lines(1...3)).status == .success)
        let folder = workspace.url.path + "/out"
        #expect(cache.run("export", folder).status == .success)
        for words in [[], ["--dry-run"]] {
            let command = name == "warm" ? ["warm", "-", "--key", "id"] : ["import", folder]
            let run = ToolRun(
                command + ["--layout", "packed"] + words + cache.options,
                on: DiskCache.backend,
                input: lines(4...4)
            )
            #expect(run.status == .failure)
            #expect(
                run.errors.text
                    == "typed-cache: the cache 'c' has the layout files; leave --layout out, or export and import it\n",
                "\(run.errors.text)"
            )
        }
        #expect(try cache.contents().count == 3)
        #expect(ToolRun(warm + cache.options, on: DiskCache.backend, input: lines(4...4)).status == .success)
    }

    @Test(
        "On a full disk the former entries stay, and every record that was not saved is counted",
        .enabled(if: SmallVolume.isPossible, "a small volume cannot be mounted here, which takes root")
    )
    func fullDisk() throws {
        try SmallVolume.mount("size=2m") { path, _ in
            func warm(_ version: Int) -> ToolRun {
                var random = SeededGenerator(seed: UInt64(version))
                let records = (0..<3_000).map { number in
                    let text = random.bytes(1_100).map { String(UnicodeScalar(0x61 + $0 % 26)) }.joined()
                    return #"{"id":\#(number),"version":\#(version),"text":"\#(text)"}"# + "\n"
                }
                let words = ["warm", "-", "--key", "id", "--json", "--cache", "c", "--root", path]
                return ToolRun(words, on: DiskCache.backend, input: records.joined())
            }
            func keys() throws -> Set<String> {
                let listed = ToolRun(["list", "--cache", "c", "--root", path], on: DiskCache.backend)
                return Set(listed.output.text.split(separator: "\n").map(String.init))
            }
            #expect(warm(1).status == .failure)
            let former = try keys()
            #expect(former.count > 300)
            let again = warm(2)
            #expect(again.status == .failure)
            #expect(try keys().isSuperset(of: former))
            let counts = try #require(
                try JSONSerialization.jsonObject(with: Data(again.output.text.utf8)) as? [String: Any]
            )
            let numbers = ["read", "saved", "present", "invalid", "failed"].map { counts[$0] as? Int ?? -1 }
            #expect(numbers[4] > 0 && numbers[0] == numbers[1...].reduce(0, +), "\(again.output.text)")
        }
    }

    @Test(
        "A source without a record, and a directory without an entry, leave no cache",
        arguments: ["warm", "import"]
    )
    func nothingToSave(name: String) throws {
        let folder = workspace.url.path + "/in"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try Data("no archive".utf8).write(to: URL(fileURLWithPath: folder + "/x.archive"))
        let words = name == "warm" ? ["warm", "-", "--key", "id"] : ["import", folder]
        for input in ["", "[]", #"{"name":"no key"}"#] {
            _ = ToolRun(words + cache.options, on: DiskCache.backend, input: input)
            #expect(!FileManager.default.fileExists(atPath: workspace.root + "/c"))
        }
        let some = ToolRun(
            ["warm", "-", "--key", "id"] + cache.options,
            on: DiskCache.backend,
            input: lines(1...2)
        )
        #expect(some.status == .success)
        #expect(try cache.contents().count == 2)
    }
}
