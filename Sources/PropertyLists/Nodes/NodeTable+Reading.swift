import Foundation

extension NodeTable {
    /// Reads a property list of any format, which its content tells.
    static func read(_ input: [UInt8], limits: PropertyListLimits) throws(PropertyListError) -> NodeTable {
        guard input.count <= limits.bytes else {
            throw PropertyListError(.limitExceeded, "more than \(limits.bytes) bytes", offset: limits.bytes)
        }
        guard !input.isEmpty else { throw PropertyListError(.unknownFormat, "no bytes", offset: 0) }
        if input.starts(with: "bplist".utf8) { return try BinaryReader.read(input, limits: limits) }
        let text = try TextEncoding.utf8(of: input)
        guard text.count <= Int(Int32.max) else {
            throw PropertyListError(.limitExceeded, "text of more than 2^31 bytes", offset: 0)
        }
        do throws(PropertyListError) {
            return TextEncoding.isXML(text)
                ? try XMLReader.read(text, limits: limits) : try TextReader.read(text, limits: limits)
        } catch {
            var error = error
            if let offset = error.offset {
                error.position = ByteView.with(text) { position(at: offset, in: $0) }
            }
            throw error
        }
    }

    func written(as format: PropertyListFormat) throws(PropertyListError) -> Data {
        switch format.base {
        case .binary: try BinaryWriter.write(self)
        case .xml: try XMLWriter.write(self)
        case .openStep: try TextWriter.write(self, isTyped: false)
        case .gnuStep: try TextWriter.write(self, isTyped: true)
        }
    }
}
