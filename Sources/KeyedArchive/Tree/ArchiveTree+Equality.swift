import Foundation

extension ArchiveTree: Equatable {
    /// Whether two trees say the same of every place. The order of fields means nothing.
    ///
    /// - Complexity: O(*n* log *n*) in the trees' values.
    public static func == (left: ArchiveTree, right: ArchiveTree) -> Bool {
        guard left.objects.count == right.objects.count else { return false }
        return Field.areSame(left.roots, right.roots, by: ==)
            && zip(left.objects, right.objects).allSatisfy { Object.areSame($0, $1, by: ==) }
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
                let areSame = Value.areSame(left, right, by: arePartners)
                if areSame { same[places.0] = places.1 }
                return areSame
            default: break
            }
            guard taken.insert(right).inserted else { return false }
            partners[left] = right
            pending.append((left, right))
            return true
        }
        guard Field.areSame(roots, other.roots, by: arePartners) else { return false }
        while let (left, right) = pending.popLast() {
            guard let left = object(left), let right = other.object(right) else { return false }
            if case .instance(let one) = left, case .instance(let two) = right {
                guard classDescription(of: one) == other.classDescription(of: two),
                    Field.areSame(one.fields, two.fields, by: arePartners)
                else { return false }
            } else if !Object.areSame(left, right, by: arePartners) {
                return false
            }
        }
        return true
    }
}

extension ArchiveTree.Object {
    fileprivate static func areSame(_ left: Self, _ right: Self, by references: (Int, Int) -> Bool) -> Bool {
        switch (left, right) {
        case (.empty, .empty): true
        case (.value(let left), .value(let right)): ArchiveTree.Value.areSame(left, right, by: references)
        case (.instance(let left), .instance(let right)):
            references(left.classPlace, right.classPlace)
                && ArchiveTree.Field.areSame(left.fields, right.fields, by: references)
        case (.classDescription(let left), .classDescription(let right)): left == right
        default: false
        }
    }
}
