import ArchiveTrials
import FuzzKit

// Objects of many classes, and Codable values.
Fuzzer.run { data in
    try Trial.unarchive(data)
    try Trial.decode(data)
}
