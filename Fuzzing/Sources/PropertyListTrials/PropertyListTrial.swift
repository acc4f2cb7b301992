import Foundation
import PropertyLists

/// The law of property lists: a list that is read is written in the same format, and read again equal.
public enum PropertyListTrial {
    public enum Breach: Error {
        case withoutPlace(PropertyListError)
        case notWritten(PropertyListError)
        case notReadAgain(PropertyListError)
        case different
    }

    private static let limits = PropertyListLimits(values: 100_000)

    /// Tries bytes if they are in one of `formats`.
    public static func run(_ bytes: Data, formats: Set<PropertyListFormat>) throws {
        var found: PropertyListFormat?
        let list: PropertyList
        do throws(PropertyListError) {
            list = try PropertyList(bytes, limits: limits, format: &found)
        } catch {
            if error.offset == nil || error.message.isEmpty { throw Breach.withoutPlace(error) }
            return
        }
        guard let format = found, formats.contains(format) else { return }
        guard let written = try write(list, format) else { return }
        let again = try read(written)
        // Two readings of the same bytes differ in a number that is none, which is not equal to itself.
        guard try write(again, format) == written, try again == list || again != read(written) else {
            throw Breach.different
        }
    }

    private static func read(_ written: Data) throws -> PropertyList {
        do throws(PropertyListError) {
            return try PropertyList(written, limits: limits)
        } catch {
            throw Breach.notReadAgain(error)
        }
    }

    /// - Returns: `nil` for text that XML does not allow, which its reader lets pass.
    private static func write(_ list: PropertyList, _ format: PropertyListFormat) throws -> Data? {
        do throws(PropertyListError) {
            return try list.data(format: format)
        } catch {
            if format == .xml, error.code == .notRepresentable { return nil }
            throw Breach.notWritten(error)
        }
    }
}
