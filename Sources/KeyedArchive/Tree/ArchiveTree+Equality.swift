import Foundation

extension ArchiveTree: Equatable {
    /// Whether two trees say the same of every place. The order of fields means nothing.
    ///
    /// - Complexity: O(*n* log *n*) in the trees' values.
    public static func == (left: ArchiveTree, right: ArchiveTree) -> Bool {
        guard left.objects.count == right.objects.count else { return false }
        return Field.areSame(left.roots, right.roots, ==)
            && zip(left.objects, right.objects).allSatisfy { Object.areSame($0, $1, ==) }
    }

    /// Whether the roots of two trees are the same graph: the same classes and values, with the same sharing and
    /// the same cycles, regardless of places. Objects that no root leads to do not count.
    ///
    /// Strings, numbers and data that archives store as themselves have no identity: they are compared by value.
    ///
    /// - Complexity: O(*n* log *n*) in the trees' values and the bytes of their texts and data.
    public func isSameGraph(as other: ArchiveTree) -> Bool {
        var partners: [Int: Int] = [:]
        var taken: Set<Int> = []
        var pending: [(Int, Int)] = []
        // Texts and data that were found equal: each may be referred to very often.
        var same: [Int: Int] = [:]
        func arePartners(_ left: Int, _ right: Int) -> Bool {
            if let known = partners[left] { return known == right }
            let places = (left, right)
            switch (object(left), other.object(right)) {
            case (.empty?, .empty?): return true
            // Values that refer to other values are compared later, once for each place, so that cycles end.
            case (.value(let left)?, .value(let right)?) where !left.holdsOthers:
                if same[places.0] == places.1 { return true }
                let areSame = Value.areSame(left, right, arePartners)
                if areSame { same[places.0] = places.1 }
                return areSame
            default: break
            }
            guard taken.insert(right).inserted else { return false }
            partners[left] = right
            pending.append((left, right))
            return true
        }
        guard Field.areSame(roots, other.roots, arePartners) else { return false }
        while let (left, right) = pending.popLast() {
            guard let left = object(left), let right = other.object(right) else { return false }
            if case .instance(let one) = left, case .instance(let two) = right {
                guard classDescription(of: one) == other.classDescription(of: two),
                    Field.areSame(one.fields, two.fields, arePartners)
                else { return false }
            } else if !Object.areSame(left, right, arePartners) {
                return false
            }
        }
        return true
    }
}

extension ArchiveTree.Object {
    fileprivate static func areSame(_ left: Self, _ right: Self, _ references: (Int, Int) -> Bool) -> Bool {
        switch (left, right) {
        case (.empty, .empty): true
        case (.value(let left), .value(let right)): ArchiveTree.Value.areSame(left, right, references)
        case (.instance(let left), .instance(let right)):
            references(left.classPlace, right.classPlace)
                && ArchiveTree.Field.areSame(left.fields, right.fields, references)
        case (.classDescription(let left), .classDescription(let right)): left == right
        default: false
        }
    }
}

extension ArchiveTree.Field {
    fileprivate static func areSame(_ left: [Self], _ right: [Self], _ references: (Int, Int) -> Bool) -> Bool {
        guard left.count == right.count else { return false }
        return zip(sorted(left), sorted(right)).allSatisfy {
            $0.key.utf8.elementsEqual($1.key.utf8) && ArchiveTree.Value.areSame($0.value, $1.value, references)
        }
    }

    /// The fields sorted by key; fields with the same key keep their order.
    private static func sorted(_ fields: [Self]) -> [Self] {
        fields.enumerated().sorted { left, right in
            if left.element.key.utf8.elementsEqual(right.element.key.utf8) { return left.offset < right.offset }
            return left.element.key.utf8.lexicographicallyPrecedes(right.element.key.utf8)
        }.map(\.element)
    }
}

extension ArchiveTree.Value: Equatable {
    /// Whether two values are the same, kind and all: numbers and dates by their bits, strings by their bytes.
    public static func == (left: Self, right: Self) -> Bool { areSame(left, right, ==) }

    fileprivate var holdsOthers: Bool {
        switch self {
        case .array, .set, .dictionary, .reference: true
        default: false
        }
    }

    fileprivate static func areSame(_ left: Self, _ right: Self, _ references: (Int, Int) -> Bool) -> Bool {
        switch (left, right) {
        case (.null, .null): true
        case (.bool(let left), .bool(let right)): left == right
        case (.integer(let left), .integer(let right)): left == right
        case (.unsigned(let left), .unsigned(let right)): left == right
        case (.float(let left), .float(let right)): left.bitPattern == right.bitPattern
        case (.real(let left), .real(let right)): left.bitPattern == right.bitPattern
        case (.string(let left), .string(let right)): left.utf8.elementsEqual(right.utf8)
        case (.data(let left), .data(let right)): left == right
        case (.date(let left), .date(let right)):
            left.timeIntervalSinceReferenceDate.bitPattern == right.timeIntervalSinceReferenceDate.bitPattern
        case (.array(let left), .array(let right)), (.set(let left), .set(let right)):
            left.count == right.count && zip(left, right).allSatisfy { areSame($0, $1, references) }
        case (.dictionary(let left), .dictionary(let right)):
            ArchiveTree.Field.areSame(left, right, references)
        case (.reference(let left), .reference(let right)): references(left, right)
        default: false
        }
    }
}
