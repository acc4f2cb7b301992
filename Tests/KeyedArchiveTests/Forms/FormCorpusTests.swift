import Foundation
import Testing

@testable import KeyedArchive

/// Archives that Apple's software wrote give the values that it put there.
@Suite(.enabled(if: Corpus.folder != nil, "set TYPED_CACHE_CORPUS to the folder of the corpus"))
struct FormCorpusTests {
    private func unarchiver(_ name: String) throws -> KeyedUnarchiver {
        var bytes = [UInt8](try Data(contentsOf: Corpus.file("keyed/\(name)")))
        if !bytes.starts(with: BinaryPropertyList.magic) {
            let list = try PropertyListSerialization.propertyList(from: Data(bytes), format: nil)
            bytes = [UInt8](try PropertyListSerialization.data(fromPropertyList: list, format: .binary, options: 0))
        }
        return try KeyedUnarchiver(bytes, classes: [])
    }

    private func decoded<T>(_ name: String, as type: T.Type) throws -> T {
        let unarchiver = try unarchiver(name)
        let object = unarchiver.decodeObject(forKey: "root")
        try unarchiver.finishDecoding()
        return try #require(object as? T, "\(name)")
    }

    private func written<T>(_ name: String, as type: T.Type) throws -> T {
        try decoded("corelibs__\(name).archive", as: type)
    }

    private func plist<T>(_ name: String, as type: T.Type) throws -> T {
        try decoded("corelibs__NSKeyedUnarchiver-\(name)Test.plist", as: type)
    }

    @Test func indexes() throws {
        var many = IndexSet(integersIn: 0..<50)
        many.insert(integersIn: 100..<150)
        many.insert(integersIn: 1_000..<1_050)
        many.insert(integersIn: Int.max - 50..<Int.max)
        for name in ["NSIndexSet", "NSMutableIndexSet"] {
            #expect(try written("\(name)-Empty", as: NSIndexSet.self).count == 0)
            #expect(try written("\(name)-OneRange", as: IndexSet.self) == IndexSet(integersIn: 0..<50))
            #expect(try written("\(name)-ManyRanges", as: IndexSet.self) == many)
        }
        #expect(try written("NSMutableIndexSet-OneRange", as: NSMutableIndexSet.self).count == 50)
        #expect(try written("NSIndexPath-Empty", as: IndexPath.self).isEmpty)
        #expect(try written("NSIndexPath-OneIndex", as: IndexPath.self) == [52])
        #expect(try written("NSIndexPath-ManyIndices", as: IndexPath.self) == [4, 8, 15, 16, 23, 42])
    }

    @Test func sets() throws {
        for name in ["NSOrderedSet", "NSMutableOrderedSet"] {
            #expect(try written("\(name)-Empty", as: NSOrderedSet.self).count == 0)
            #expect(try written("\(name)-Numbers", as: NSOrderedSet.self).array as? [Int] == [1, 2, 3, 4, 5])
        }
        #expect(try written("NSMutableOrderedSet-Numbers", as: NSMutableOrderedSet.self).count == 5)
        #expect(try plist("OrderedSet", as: NSOrderedSet.self).array as? [String] == ["valgeir", "nico", "puzzle"])
        #expect(try written("NSCountedSet-Empty", as: NSCountedSet.self).count == 0)
        for (name, count) in [("Once", 1), ("SeveralTimes", 5)] {
            let set = try written("NSCountedSet-NumbersAppearing\(name)", as: NSCountedSet.self)
            #expect(set.count == 5)
            for number in 1...5 { #expect(set.count(for: number) == count) }
        }
    }

    @Test func texts() throws {
        for name in ["NSAttributedString", "NSMutableAttributedString"] {
            let text = try written(name, as: NSAttributedString.self)
            #expect(text.string == "0123456789")
            let sizes = (0..<10).map { text.attribute(.init("Size"), at: $0, effectiveRange: nil) as? Int }
            #expect(sizes == [nil, 123, 456, 456, 456, 456, 123, 123, 456, nil])
            #expect(text.attribute(.init("Font"), at: 1, effectiveRange: nil) as? String == "Helvetica")
            #expect(text.attribute(.init("Font"), at: 8, effectiveRange: nil) as? String == "Times")
        }
        #expect(try written("NSMutableAttributedString", as: NSMutableAttributedString.self).length == 10)
        for (name, count) in [("Simple", 1), ("Extended", 6), ("Complex", 9)] {
            let match = try written("NSTextCheckingResult-\(name)Regex", as: NSTextCheckingResult.self)
            #expect(match.numberOfRanges == count)
            #expect(match.range == NSRange(location: 0, length: name == "Simple" ? 3 : count))
            #expect(match.range(at: count - 1).length == (name == "Simple" ? 3 : 1))
            #expect(match.regularExpression?.pattern.hasPrefix("a") == true)
        }
    }

    @Test func values() throws {
        #expect(try plist("Rect", as: NSValue.self).rectValue == CGRect(x: 400, y: 300, width: 200, height: 300))
        #expect(try plist("Range", as: NSValue.self).rangeValue == NSRange(location: 97_345, length: 98_345))
        let insets = try plist("EdgeInsets", as: NSValue.self).edgeInsetsValue
        #expect([insets.top, insets.left, insets.bottom, insets.right] == [1, 2, 3, 4])
        let array = try plist("ConcreteValue", as: NSValue.self)
        #expect(String(cString: array.objCType) == "[3i]")
        #expect(array.bytes(count: 12) == [1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0])
    }

    @Test func notificationsAndAddresses() throws {
        let notification = try plist("Notification", as: NSNotification.self)
        #expect(notification.name.rawValue == "notification-name")
        #expect(notification.object as? String == "notification-object")
        #expect(notification.userInfo as? [String: String] == ["notification-key": "notification-val"])
        #expect(try plist("URL", as: URL.self).absoluteString == "https://www.example.com/foo.xml")
        let complex = try plist("Complex", as: [String: Any].self)
        #expect((complex["array"] as? [Any])?.count == 4)
    }

    @Test func measurements() throws {
        let angle = try written("NSMeasurement-Angle", as: Measurement<UnitAngle>.self)
        #expect(angle == Measurement(value: 90, unit: .degrees))
        let frequency = try written("NSMeasurement-Frequency", as: Measurement<UnitFrequency>.self)
        #expect(frequency == Measurement(value: 1_400, unit: .megahertz))
        let length = try written("NSMeasurement-Length", as: Measurement<UnitLength>.self)
        #expect(length == Measurement(value: 45, unit: .miles))
        #expect(try written("NSMeasurement-Zero", as: NSMeasurement.self).unit == Unit(symbol: ""))
    }

    @Test func formattersAndWhatTheyHold() throws {
        let formatter = try written("ISO8601DateFormatter-OptionsSet", as: ISO8601DateFormatter.self)
        #expect(formatter.formatOptions.rawValue == 1_366)
        #expect(formatter.timeZone == TimeZone(identifier: "GMT"))
        #expect(
            try written("ISO8601DateFormatter-Default", as: ISO8601DateFormatter.self).formatOptions
                == ISO8601DateFormatter().formatOptions
        )
        let bytes = try written("ByteCountFormatter-AllFieldsSet", as: ByteCountFormatter.self)
        #expect(bytes.allowedUnits == [.useBytes, .useKB])
        #expect(bytes.countStyle == .decimal)
        #expect(!bytes.isAdaptive && !bytes.includesUnit && !bytes.includesCount && bytes.zeroPadsFractionDigits)
        #expect(try written("ByteCountFormatter-Default", as: ByteCountFormatter.self).isAdaptive)

        // The class itself is not read, but its parts are.
        let parts = try unarchiver("corelibs__DateIntervalFormatter-ValuesSetWithTemplate.archive")
        #expect(try parts.object(4) as? Locale == Locale(identifier: "ja-JP"))
        let calendar = try #require(try parts.object(7) as? Calendar)
        #expect(calendar.identifier == .gregorian)
        #expect(calendar.timeZone == TimeZone(identifier: "GMT"))
        #expect(calendar.firstWeekday == 1)
        #expect((try parts.object(18) as? TimeZone)?.secondsFromGMT() == 3_600)
    }

    @Test func expressions() throws {
        for form in ["bin", "xml"] {
            let expression = try unarchiver("kiler__miscTypes.\(form).plist").object(5) as? NSRegularExpression
            #expect(expression?.pattern == "(.*)")
        }
    }

    /// An archive by Apple, read and written again, has the same fields.
    @Test func formsComeOutAsTheyWentIn() throws {
        var count = 0
        for file in try Corpus.files(in: "keyed") where file.pathExtension == "archive" {
            let data = try Data(contentsOf: file)
            let decoded: Any
            do {
                decoded = try KeyedUnarchiver.unarchivedRoot(ofClass: Any.self, from: data)
            } catch {
                // The formatter that is left out.
                #expect(
                    file.lastPathComponent.contains("DateIntervalFormatter"),
                    "\(file.lastPathComponent): \(error)"
                )
                continue
            }
            let name = file.lastPathComponent
            let apples = try ArchivedForms(data).root
            let ours = try ArchivedForms(of: decoded).root
            #expect(keys(apples) == keys(ours), "\(name): \(apples), ours \(ours)")
            count += 1
        }
        #expect(count > 30)
    }

    /// The keys, except those that we do not write, and those of mutable strings and data in the place of others.
    private func keys(_ text: String) -> Set<String> {
        let left: Set = ["NS.specifier", "NS.data", "NS.string"]
        return Set(text.split { "{, }[]".contains($0) }.filter { $0.hasSuffix(":") }.map { String($0.dropLast()) })
            .subtracting(left)
    }
}
