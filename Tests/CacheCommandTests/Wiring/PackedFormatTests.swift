import Foundation
import TestSupport
import Testing

@testable import CacheCommand

/// The documentation of a packed store is enough to read it.
@Suite struct PackedFormatTests {
    private let workspace: Workspace

    init() throws { workspace = try Workspace() }

    private func cache(_ words: String...) -> [String] {
        words + ["--cache", "c", "--root", workspace.root]
    }

    /// Written by `docs/format.md` alone: reads all segments, and compares their entries with the files of an export.
    private static let reader = """
        import glob, json, plistlib, struct, sys, zlib
        place, export = sys.argv[1:]
        entries, dictionaries, previous, floor = {}, {}, (0, None), 0
        form = '>4sIHxxII16xII24xIII'
        for path in sorted(glob.glob(place + '/*.segment')):
            data = open(path, 'rb').read()
            magic, checksum, version, number, seed, end, first, most, name, size = struct.unpack_from(form, data)
            assert (magic, version, checksum) == (b'TCPS', 3, zlib.crc32(data[8:80 + size]))
            assert previous[1] is None or end == ended and first <= number
            assert path.endswith('%08x.segment' % number)
            dictionary, at = zlib.decompress(data[80:80 + size]) if size else b'', 80 + size
            assert len(dictionary) == most
            if size: assert zlib.adler32(dictionary) == name
            def length():
                global spot
                value = shift = 0
                while True:
                    byte = data[spot]
                    value, shift, spot = value | (byte & 127) << shift, shift + 7, spot + 1
                    if byte < 128: return value
            def take(form):
                global spot
                spot += struct.calcsize(form)
                return struct.unpack_from(form, data, spot - struct.calcsize(form))[0]
            while at < len(data):
                magic, head, flags = struct.unpack_from('>2sIB', data, at)
                before, spot = int.from_bytes(data[at + 13:at + 16], 'big'), at + 16
                kind = flags & 7
                key, payload, more, expires, serial = length(), 0, 0, None, number << 32 | at
                if kind == 1:
                    body, early = take('>I'), take('B')
                    stored = take('>d') if early == 255 else (early << 32 | take('>I')) / 256
                    payload, size_before = length(), length()
                    if flags & 16: expires = take('>d')
                    if flags & 32: more = length()
                if flags & 64: serial = length() << 32 | length()
                start = spot + key + more
                assert magic == b'\\xf5\\x32'
                assert head == zlib.crc32(data[at + 6:start], zlib.crc32(struct.pack('>II', number, at), seed))
                assert previous[1] is None or before == previous[0] & 0xffffff
                text = data[spot:spot + key].decode()
                if kind == 1:
                    salt = zlib.crc32(struct.pack('>I', name)) if flags & 128 else 0
                    assert body == zlib.crc32(data[start:start + payload], salt) and expires > stored
                    stream = zlib.decompressobj(-15 if flags & 128 else 15, zdict=dictionary)
                    archive = stream.decompress(data[start:start + payload])
                    assert len(archive) == size_before and plistlib.loads(archive)['$archiver'] == 'NSKeyedArchiver'
                    entries[text] = (archive, stored, expires)
                elif kind in (2, 6): entries.pop(text, None)
                elif kind == 3: floor = serial
                else: assert kind == 4
                previous, at = (start + payload - at, text), start + payload
            ended = at
        *lines, end = [json.loads(line) for line in open(export + '/index.ndjson', encoding='utf-8')][1:]
        assert end == {'end': len(lines)}
        assert {line['key'] for line in lines} == set(entries) and len(lines) == int(open(export + '/count').read())
        for line in lines:
            assert open(export + '/' + line['file'], 'rb').read() == entries[line['key']][0]
        assert any(open(path, 'rb').read(80)[68:72] != bytes(4) for path in glob.glob(place + '/*.segment'))
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
        try python.start()
        python.waitUntilExit()
        if python.terminationStatus == 127 {
            print("skipped: there is no python3 here")
            return
        }
        #expect(python.terminationStatus == 0)
    }
}
