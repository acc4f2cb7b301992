import Foundation
import Testing

@testable import CacheCommand

/// What is documented of a packed store is enough to read it.
@Suite struct PackedFormatTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func cache(_ words: String...) -> [String] {
        words + ["--cache", "c", "--root", workspace.root]
    }

    /// Written by `docs/format.md` alone: reads all segments, and compares what is there with the files of an export.
    private static let reader = """
        import glob, json, plistlib, struct, sys, zlib
        place, export = sys.argv[1:]
        entries, dictionaries, previous, floor = {}, {}, (0, None), 0
        for path in sorted(glob.glob(place + '/*.segment')):
            data = open(path, 'rb').read()
            magic, checksum, version, number, begun, size, name = struct.unpack_from('>4sIHxxIdII4x', data)
            assert (magic, version, checksum) == (b'TCPS', 1, zlib.crc32(data[8:36 + size]))
            assert path.endswith('%08x.segment' % number)
            dictionary, at = data[36:36 + size], 36 + size
            if size: assert zlib.adler32(dictionary) == name
            while at < len(data):
                (magic, head, body, kind, flags, key, more, payload, length, before, _, serial, stored, expires
                    ) = struct.unpack_from('>4sIIBBHHxxIIIQQdd', data, at)
                first, start = at == 36 + size, at + 64 + key + more
                assert magic == b'TCPR' and flags == first and stored == stored
                assert head == zlib.crc32(data[at + 8:start], zlib.crc32(struct.pack('>II', number, at)))
                assert body == zlib.crc32(data[start:start + payload])
                assert previous[1] is None or before == previous[0]
                text = data[at + 64:at + 64 + key].decode()
                if kind == 1:
                    archive = zlib.decompressobj(zdict=dictionary).decompress(data[start:start + payload])
                    assert len(archive) == length and plistlib.loads(archive)['$archiver'] == 'NSKeyedArchiver'
                    entries[text] = (archive, stored, expires)
                elif kind == 2: entries.pop(text, None)
                elif kind == 3: floor = serial
                else: assert kind == 4
                previous, at = (start + payload - at, text), start + payload
        lines = [json.loads(line) for line in open(export + '/index.ndjson', encoding='utf-8')][1:]
        assert {line['key'] for line in lines} == set(entries) and len(lines) == int(open(export + '/count').read())
        for line in lines:
            assert open(export + '/' + line['file'], 'rb').read() == entries[line['key']][0]
        assert any(open(path, 'rb').read(36)[24:28] != bytes(4) for path in glob.glob(place + '/*.segment'))
        """

    @Test("A program that knows the documentation only reads what is there")
    func reading() throws {
        let source = try workspace.records(1_000)
        for _ in 0..<2 {
            let warm = try RealTool.run(cache("warm", source, "--key", "id", "--layout", "packed", "--ttl", "1h"))
            try #require(warm.status == 0)
        }
        #expect(try RealTool.run(cache("remove", "k7", "k999")).status == 0)
        let folder = workspace.url.appending(path: "out")
        #expect(try RealTool.run(cache("export", folder.path)).status == 0)
        try Data("998".utf8).write(to: folder.appending(path: "count"))

        let python = Process()
        python.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        python.arguments = ["python3", "-c", Self.reader, workspace.root + "/c", folder.path]
        try python.run()
        python.waitUntilExit()
        if python.terminationStatus == 127 {
            print("skipped: there is no python3 here")
            return
        }
        #expect(python.terminationStatus == 0)
    }
}
