import ArchiveStore

extension VisibleFiles {
    /// For people: a line for each segment, and one for all files.
    var prose: String {
        var table = TextTable([("FILE", .left), ("SIZE", .right), ("KEY", .right), ("RECORDS, ABOUT", .right)])
        for segment in segments {
            table.append([
                segment.name, ByteText(segment.byteCount).description, segment.key.map(String.init) ?? "damaged",
                CountText(segment.recordCount).description,
            ])
        }
        let all = "\(CountText(fileCount, "file", plural: "files")) of \(ByteText(byteCount)) in all\n"
        return segments.isEmpty ? all : table.description + all
    }

    /// For programs. Numbers of keys are strings: they have more digits than numbers in many readers of JSON.
    var json: Record {
        [
            "encrypted": .bool(true),
            "files": .count(fileCount),
            "size": .count(byteCount),
            "segments": .array(
                segments.map { segment in
                    .object([
                        "file": .string(segment.name),
                        "size": .count(segment.byteCount),
                        "key": segment.key.map { .string(String($0)) } ?? .null,
                        "records": .count(segment.recordCount),
                    ])
                }
            ),
        ]
    }
}
