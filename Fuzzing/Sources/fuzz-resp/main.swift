import FuzzKit

// Answers of a server: the first byte says how they are cut.
Fuzzer.run { data in
    try AnswerTrial(bytes: [UInt8](data.dropFirst())).run(partLength: Int(data.first ?? 0) % 16 + 1)
}
