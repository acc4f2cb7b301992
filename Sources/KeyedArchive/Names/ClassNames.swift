import Foundation
import Synchronization

/// Class names as archives carry them, both ways.
///
/// A top-level class is `Module.Class`, a Foundation class its Objective-C name, a class nested in a class
/// `_TtCC6Module5Outer5Inner`. Generic and private classes are named as Swift prints them, less the parts that
/// differ from run to run; such names are recognised only where the class itself is expected.
/// `NSStringFromClass` and `NSClassFromString` trap or fail for most of these on Linux. On Apple platforms names are
/// Objective-C's; a class that `@objc` renames is found by its name in Swift too, but only on the way in.
package enum ClassNames {
    package static func name(of type: Any.Type) -> String {
        if let named = type as? any NamedInArchives.Type { return named.archivedName }
        #if canImport(Darwin)
            // It knows the names that `@objc(Name)` gives, as Foundation's archiver does.
            if let cls = type as? AnyClass { return NSStringFromClass(cls) }
        #endif
        if type is AnyClass, let mangled = _mangledTypeName(type) {
            if let path = nominalPath(mangled) {
                if path.count == 2, path[0].name == "Foundation" {
                    // Swift drops the prefix of some. `NSStringFromClass` would know too, at 4 ms for the first.
                    return path[1].name.hasPrefix("NS") ? String(path[1].name) : "NS\(path[1].name)"
                }
                if path.count > 2, path.dropFirst().allSatisfy({ $0.kind == "C" }) {
                    let kinds = path.dropFirst().map { String($0.kind ?? "C") }.joined()
                    return "_Tt\(kinds)" + path.map { "\($0.name.utf8.count)\($0.name)" }.joined()
                }
            }
        }
        return portable(stable(_typeName(type, qualified: true)))
    }

    /// A name with `Foundation` in the place of the modules that Foundation has in parts, as on Linux, so that the names of
    /// generic types are those of Apple's platforms: `Page<Foundation.Date>`, not `Page<FoundationEssentials.Date>`.
    static func portable(_ name: String) -> String {
        guard name.contains("Foundation") else { return name }
        var portable = ""
        var rest = name[...]
        while let found = rest.firstRange(of: "Foundation") {
            let isWhole =
                found.lowerBound == name.startIndex
                || !isIdentifier(name[name.index(before: found.lowerBound)..<found.lowerBound])
            portable += rest[..<found.upperBound]
            rest = rest[found.upperBound...]
            for part in ["Essentials", "Internationalization"] where isWhole && rest.hasPrefix(part + ".") {
                rest = rest.dropFirst(part.count)
                break
            }
        }
        return portable + rest
    }

    package static func isFoundations(_ type: Any.Type) -> Bool {
        let name = _typeName(type, qualified: true)
        return name.hasPrefix("Foundation.") || name.hasPrefix("FoundationEssentials.")
    }

    /// The class of a name, among all that the process has; `nil` for names that cannot be looked up.
    ///
    /// Only plain `Module.Class` and nested `_TtC…` names reach the runtime: its demangler is not made for hostile
    /// input.
    package static func resolve(_ name: String) -> AnyClass? {
        if let found = resolved.withLock({ $0[name] }) { return found.type }
        guard let found = lookedUp(name) else { return nil }
        resolved.withLock { table in
            // Names come from archives, so the table must not grow with every made-up name.
            if table.count >= 4_096 { table.removeAll(keepingCapacity: true) }
            table[name] = found
        }
        return found.type
    }

    /// The runtime's answer for a name; `nil` for names that it is not asked about.
    private static func lookedUp(_ name: String) -> Resolved? {
        #if canImport(Darwin)
            // Objective-C's own names have no module; by its Swift name a class is found even if `@objc` renames it.
            if isIdentifier(name[...]), name.utf8.count <= 1_024, !name.hasPrefix("_T") {
                return Resolved(type: NSClassFromString(name))
            }
        #endif
        guard let query = runtimeName(name) else { return nil }
        return Resolved(type: _typeByName(query) as? AnyClass)
    }

    private struct Resolved: @unchecked Sendable {
        // A metatype is immutable; AnyClass lacks the conformance only because its instances may not be.
        let type: AnyClass?
    }

    private static let resolved = Mutex<[String: Resolved]>([:])

    private static func runtimeName(_ name: String) -> String? {
        guard name.utf8.count <= 1_024 else { return nil }
        if name.hasPrefix("_TtC") {
            let rest = name.dropFirst(3)
            let depth = rest.prefix { $0 == "C" }.count
            guard let parts = identifiers(rest.dropFirst(depth)), parts.count == depth + 1 else { return nil }
            let outer = "\(parts[0].utf8.count)\(parts[0])"
            return outer + parts.dropFirst().map { "\($0.utf8.count)\($0)C" }.joined()
        }
        let parts = name.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 2, parts.allSatisfy(isIdentifier) else { return nil }
        return name
    }

    private static func isIdentifier(_ text: Substring) -> Bool {
        guard let first = text.utf8.first, first < 0x30 || first > 0x39 else { return false }
        return text.utf8.allSatisfy { byte in
            switch byte {
            case 0x30...0x39, 0x41...0x5A, 0x5F, 0x61...0x7A: true
            default: byte >= 0x80
            }
        }
    }

    /// Reads `6Module5Outer5Inner`.
    private static func identifiers(_ text: Substring) -> [Substring]? {
        var parts: [Substring] = []
        var rest = text
        while !rest.isEmpty {
            guard let part = takeIdentifier(&rest), isIdentifier(part) else { return nil }
            parts.append(part)
        }
        return parts
    }

    private static func takeIdentifier(_ rest: inout Substring) -> Substring? {
        let digits = rest.prefix { $0.isASCII && $0.isNumber }
        guard let length = Int(digits), length > 0, digits.count <= 4 else { return nil }
        rest = rest.dropFirst(digits.count)
        guard rest.utf8.count >= length else { return nil }
        guard let end = String.Index(rest.utf8.index(rest.startIndex, offsetBy: length), within: rest)
        else { return nil }
        let part = rest[..<end]
        rest = rest[end...]
        return part
    }

    /// Reads a mangled nominal type, `6Module5OuterC5InnerC`; `nil` if it is anything more complicated.
    private static func nominalPath(_ mangled: String) -> [(name: Substring, kind: Character?)]? {
        var rest = mangled[...]
        guard let module = takeIdentifier(&rest) else { return nil }
        var path: [(name: Substring, kind: Character?)] = [(module, nil)]
        while !rest.isEmpty {
            guard let part = takeIdentifier(&rest), isIdentifier(part), let kind = rest.popFirst(),
                "CVO".contains(kind)
            else { return nil }
            path.append((part, kind))
        }
        return path.count > 1 ? path : nil
    }

    /// Removes the parts of a printed type name that change from run to run or build to build:
    /// `(unknown context at $55d3…).` and the discriminator in `(Name in _EFF8…)`.
    static func stable(_ printed: String) -> String {
        guard printed.utf8.contains(0x28) else { return printed }
        var text = ""
        var rest = printed[...]
        while let open = rest.firstIndex(of: "(") {
            text += rest[..<open]
            let inside = rest[rest.index(after: open)...]
            guard let close = inside.firstIndex(of: ")") else { break }
            let word = inside[..<close]
            rest = inside[inside.index(after: close)...]
            if word.hasPrefix("unknown context at ") {
                if rest.first == "." { rest = rest.dropFirst() }
            } else if let range = word.firstRange(of: " in ") {
                text += word[..<range.lowerBound]
            } else {
                text += "(\(word))"
            }
        }
        return text + rest
    }
}
