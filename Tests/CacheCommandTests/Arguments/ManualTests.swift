import Foundation
import TestSupport
import Testing

@testable import CacheCommand

/// The manual's pages.
struct ManualTests {
    @Test("Each subcommand has a page that tells each of its options, and the command's page names them all")
    func pages() throws {
        let pages = ManualPage.all
        #expect(pages.count == Command.listedSubcommands.count + 1)
        #expect(Set(pages.map(\.fileName)).count == pages.count)
        for (page, type) in zip(pages.dropFirst(), Command.listedSubcommands) {
            #expect(page.fileName == "typed-cache-\(type.name).1")
            #expect(pages[0].description.contains("typed\\-cache\\-\(type.name)"))
            for option in DeclaredArguments(of: type.init()).allOptions {
                #expect(page.description.contains("\\fB" + RoffText.escaped(option.declaration.spelling)))
            }
            for example in type.examples {
                #expect(page.description.contains(RoffText.escaped(example.meaning.prefix(20))))
            }
        }
    }

    @Test("Text is never taken for markup")
    func escaping() {
        #expect(RoffText.escaped(#"\fB 'a' -x … ~^`"#) == #"\efB \(aqa\(aq \-x \[u2026] \(ti\(ha\(ga"#)
        var text = RoffText()
        text.paragraph(".so /etc/passwd")
        text.paragraph("'br")
        #expect(text.description == "\\&.so /etc/passwd\n\\(aqbr\n")
    }

    @Test(
        "Readers of manual pages have nothing to say of them",
        arguments: [["mandoc", "-Tlint"], ["groff", "-man", "-ww", "-z"]]
    )
    func lint(reader: [String]) throws {
        let tool = URL(fileURLWithPath: "/usr/bin/\(reader[0])")
        guard FileManager.default.isExecutableFile(atPath: tool.path) else {
            print("skipped: \(reader[0]) is not installed")
            return
        }
        let workspace = try Workspace()
        for page in ManualPage.all { _ = try workspace.file(page.fileName, page.description) }
        let process = Process()
        process.executableURL = tool
        process.arguments =
            reader.dropFirst() + ManualPage.all.map { workspace.url.appending(path: $0.fileName).path }
        let output = Pipe.make()
        process.standardOutput = output
        process.standardError = output
        try process.start()
        let complaints = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(complaints.isEmpty, "\(complaints)")
    }

    @Test("The command writes the pages into a directory, or says why not")
    func writing() throws {
        let workspace = try Workspace()
        let run = ToolRun(["manual", "--output", workspace.url.path], on: MemoryBackend())
        #expect(run.status == .success)
        let names = try FileManager.default.contentsOfDirectory(atPath: workspace.url.path)
        #expect(Set(names) == Set(ManualPage.all.map(\.fileName)))
        let failed = ToolRun(["manual", "--output", workspace.root + "/missing"], on: MemoryBackend())
        #expect(failed.status == .failure)
        #expect(failed.errors.text.contains("cannot be written"))
    }
}
