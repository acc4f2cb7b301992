import Foundation
import TestSupport
import Testing

@testable import CacheCommand

/// Where documents are read from and written to by name: files, links, pipes.
@Suite(.serialized) struct DocumentTargetTests {
    private let workspace: Workspace
    private let document: String
    private let pipe: String

    init() throws {
        workspace = try Workspace()
        document = try workspace.file("a.json", "[\"x\"]")
        pipe = workspace.url.appending(path: "pipe").path
        try #require(mkfifo(pipe, 0o600) == 0)
    }

    private func run(_ words: String...) -> ToolRun { ToolRun(words, on: MemoryBackend()) }

    private func kind(_ path: String) -> mode_t {
        var status = stat()
        return lstat(path, &status) == 0 ? status.st_mode & S_IFMT : 0
    }

    private func link(to target: String) throws -> String {
        let link = workspace.url.appending(path: "link").path
        try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: target)
        return link
    }

    private func text(_ name: String) throws -> String {
        try String(contentsOf: workspace.url.appending(path: name), encoding: .utf8)
    }

    /// A shell that has the command in `TOOL`, the document in `DOCUMENT` and the pipe in `PIPE`. Its processes may have
    /// other signals blocked than SIGKILL.
    private func shell(_ line: String) throws -> (status: Int32, output: String) {
        let shell = Process()
        shell.executableURL = URL(fileURLWithPath: "/bin/bash")
        shell.arguments = ["-c", line]
        shell.environment = [
            "TOOL": try RealTool.executable.path, "DOCUMENT": document, "PIPE": pipe, "PATH": "/usr/bin:/bin",
        ]
        shell.currentDirectoryURL = workspace.url
        let output = Pipe.make()
        shell.standardOutput = output
        shell.standardInput = FileHandle.nullDevice
        try shell.start()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        shell.waitUntilExit()
        return (shell.terminationStatus, text)
    }

    // MARK: Writing

    @Test("A pipe is written to and stays a pipe", arguments: [false, true])
    func pipes(isByLink: Bool) throws {
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        defer { close(reader) }
        let target = isByLink ? try link(to: "pipe") : pipe
        let outcome = try RealTool.run(["convert", document, "--to", "xml", "-o", target])
        #expect(outcome.status == 0 && outcome.errors.isEmpty && kind(pipe) == S_IFIFO, "\(outcome.errors)")
        var bytes = [UInt8](repeating: 0, count: 10_000)
        let count = read(reader, &bytes, bytes.count)
        #expect(count > 0 && String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).hasSuffix("</plist>\n"))
    }

    @Test("A report goes into a pipe, too")
    func reports() throws {
        let cache = DiskCache(workspace)
        try cache.save(DiskCache.archive("x"), "x")
        let reader = open(pipe, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        try #require(reader >= 0)
        defer { close(reader) }
        let outcome = try RealTool.run(["report", "--json", "-o", pipe] + cache.options)
        #expect(outcome.status == 0 && kind(pipe) == S_IFIFO, "\(outcome.errors)")
        var byte: UInt8 = 0
        #expect(read(reader, &byte, 1) == 1 && byte == UInt8(ascii: "{"))
    }

    @Test("A pipe is waited for until it has a reader")
    func waiting() throws {
        let line = #"""
            "$TOOL" convert "$DOCUMENT" --to xml -o "$PIPE" & tool=$!
            cat "$PIPE" & cat=$!
            wait $tool; status=$?
            [ $status = 0 ] && [ -p "$PIPE" ] || kill -9 $cat
            wait $cat
            exit $status
            """#
        let outcome = try shell(line)
        #expect(outcome.status == 0 && outcome.output.hasSuffix("</plist>\n") && kind(pipe) == S_IFIFO)
    }

    @Test(
        "A signal ends the waiting for the other end of a pipe",
        arguments: [
            ["convert", "$DOCUMENT", "--to", "xml", "-o", "$PIPE"], ["lint", "$PIPE"], ["warm", "$PIPE"],
        ]
    )
    func interrupted(words: [String]) throws {
        var arguments = words.map { $0 == "$PIPE" ? pipe : $0 == "$DOCUMENT" ? document : $0 }
        if words[0] == "warm" { arguments += ["--key", "id"] + DiskCache(workspace).options }
        let (process, output, errors) = try RealTool.start(arguments)
        try RealTool.interruptWaiting(process)
        let text = output.fileHandleForReading.readDataToEndOfFile()
        let outcome = try RealTool.finish(process, output: text, errors: errors)
        #expect(outcome.wasSignalled && outcome.status == SIGINT, "\(outcome)")
        #expect(words[0] == "warm" || outcome.errors.isEmpty, "\(outcome.errors)")
        #expect(kind(pipe) == S_IFIFO)
    }

    @Test("Standard output may be named, and keeps what it has")
    func standardOutput() throws {
        let target = try link(to: "/dev/fd/1")
        let piped = try shell(#"echo former; "$TOOL" convert "$DOCUMENT" --to openstep -o link; echo latter"#)
        #expect(piped.status == 0 && piped.output.hasPrefix("former\n") && piped.output.hasSuffix("latter\n"))
        #expect(piped.output.contains("x"))
        let line = #"{ echo former; "$TOOL" convert "$DOCUMENT" --to openstep -o link; echo latter; } > out"#
        #expect(try shell(line).status == 0)
        #expect(try text("out") == piped.output && kind(target) == S_IFLNK)
    }

    @Test(
        "A link that leads to nothing stays, and the file that it names is made",
        arguments: ["new", "./inner/new"]
    )
    func danglingLinks(target: String) throws {
        let inner = workspace.url.appending(path: "inner")
        try FileManager.default.createDirectory(at: inner, withIntermediateDirectories: true)
        let link = try link(to: target)
        let written = run("convert", document, "--to", "xml", "-o", link)
        #expect(written.status == .success, "\(written.errors.text)")
        #expect(kind(link) == S_IFLNK)
        #expect(try text(target).hasSuffix("</plist>\n"))
    }

    @Test("Links in a circle, and a directory, cannot be written")
    func unwritable() throws {
        let circle = try link(to: "link")
        for (target, reason) in [
            (circle, "Too many levels of symbolic links"), (workspace.url.path, "Is a directory"),
        ] {
            let written = run("convert", document, "--to", "xml", "-o", target)
            #expect(written.status == .failure)
            #expect(
                written.errors.text.hasSuffix("cannot be written: \(reason)\n"),
                "\(written.errors.text)"
            )
        }
        #expect(kind(circle) == S_IFLNK)
    }

    @Test("Only a regular file is converted in its place")
    func inPlace() throws {
        let outcome = try shell(
            #"cat "$DOCUMENT" > "$PIPE" & "$TOOL" convert "$PIPE" --to xml 2>&1; E=$?; kill -9 $!; exit $E"#
        )
        #expect(outcome.status == 1 && kind(pipe) == S_IFIFO)
        #expect(
            outcome.output == "typed-cache: \(pipe) is not a regular file and was not replaced; use -o PATH\n",
            "\(outcome.output)"
        )
    }

    @Test("The file of a cache's entry is read, and never replaced", arguments: [false, true])
    func entryFiles(isByName: Bool) throws {
        let cache = DiskCache(workspace)
        let words = ["warm", "-", "--key", "id", "--layout", "files"] + cache.options
        #expect(ToolRun(words, on: DiskCache.backend, input: #"{"id":"a"}"#).status == .success)
        let entry = try #require(cache.files().first)
        let command = ["convert", isByName ? document : entry, "--to", "xml"] + (isByName ? ["-o", entry] : [])
        let refused = ToolRun(command, on: MemoryBackend())
        #expect(refused.status == .failure)
        #expect(
            refused.errors.text
                == "typed-cache: \(entry) is an entry of a cache, and was not replaced; use -o PATH\n"
        )
        #expect(cache.run("verify").status == .success)
        let target = workspace.url.path + "/entry.plist"
        #expect(run("convert", entry, "--to", "xml", "-o", target).status == .success && kind(target) == S_IFREG)
    }

    @Test("A file that root replaces stays its user's", .enabled(if: geteuid() == 0, "it takes root"))
    func owner() throws {
        try #require(chown(document, 65_534, 65_533) == 0)
        #expect(run("convert", document, "--to", "xml").status == .success)
        var status = stat()
        #expect(stat(document, &status) == 0 && status.st_uid == 65_534 && status.st_gid == 65_533)
    }

    @Test("Two files are not written into one")
    func equalTargets() throws {
        let list = try workspace.file("a.plist", "<plist><array/></plist>")
        let around = workspace.url.path + "/../" + workspace.url.lastPathComponent + "/a.json"
        for paths in [[list, document], [list, around], [list, list]] {
            let run = ToolRun(["convert", "--to", "xml", "-e", "xml"] + paths, on: MemoryBackend())
            #expect(run.status == .usage)
            #expect(run.errors.text.contains("/a.xml would be written twice; "), "\(run.errors.text)")
            #expect(kind(workspace.url.path + "/a.xml") == 0)
        }
    }

    // MARK: Reading

    @Test("Pipes are read by their names")
    func readPipes() throws {
        let lint = try shell(#""$TOOL" lint <(cat "$DOCUMENT") 2>&1"#)
        #expect(lint.status == 0 && lint.output.hasSuffix(": OK, JSON\n"), "\(lint.output)")
        #expect(try shell(#""$TOOL" dump <(cat "$DOCUMENT")"#).output == "root:\n  0: \"x\"\n")
        let converted = try shell(#""$TOOL" convert <(cat "$DOCUMENT") --to openstep -o -"#)
        #expect(converted.status == 0 && converted.output.contains("x"))
    }
}
