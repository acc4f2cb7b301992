import Foundation
import FuzzKit

// Texts of JSON: the first byte says how they are read.
Fuzzer.run { data in
    try JSONTrial(settings: data.first ?? 0).run(Data(data.dropFirst()))
}
