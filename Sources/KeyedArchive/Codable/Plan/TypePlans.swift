/// The plans of the types that were decoded, which stay with an unarchiver's memory.
struct TypePlans {
    private struct Entry {
        let type: ObjectIdentifier
        var plans: [ArchivePlan] = []
        /// How many archives followed no plan.
        var misses = 0
    }

    private var entries: [Entry] = []
    private static let mostTypes = 32
    private static let mostPlans = 4

    /// A plan that an archive of the type follows, if there is one.
    ///
    /// - Parameter isNoted: whether the decoding should be noted, for a new plan. Archives of a type may have ever new
    ///   shapes: those without a plan are noted less and less often.
    mutating func plan(
        for type: Any.Type,
        _ list: BinaryPropertyList,
        isNoted: inout Bool
    ) -> ArchivePlan? {
        let type = ObjectIdentifier(type)
        for index in entries.indices where entries[index].type == type {
            for plan in entries[index].plans where plan.fits(list) { return plan }
            entries[index].misses += 1
            let isTurn = entries[index].misses & (entries[index].misses - 1) == 0
            isNoted = isTurn && list.objectCount <= PlanRecorder.mostObjects
            return nil
        }
        guard entries.count < Self.mostTypes else { return nil }
        entries.append(Entry(type: type))
        return nil
    }

    /// Adds a plan, in place of the oldest one if there are many.
    mutating func add(_ plan: ArchivePlan, for type: Any.Type) {
        for index in entries.indices where entries[index].type == ObjectIdentifier(type) {
            if entries[index].plans.count == Self.mostPlans { entries[index].plans.removeFirst() }
            entries[index].plans.append(plan)
        }
    }
}
