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
}
