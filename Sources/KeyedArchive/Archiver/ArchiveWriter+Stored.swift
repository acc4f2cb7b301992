/// Parts of a property list as they are to stand in the archive: keys are not mangled, lists hold anything.
extension ArchiveWriter {
    /// Puts a value under a key that no other value of the scope has.
    func set(stored key: String, _ value: Reference) {
        pairs.append(KeyedReference(key: name(key), value: value))
    }

    /// Ends the innermost scope and makes its pairs, the class among them if there is one, the dictionary of `uid`.
    func popDictionary(_ uid: UID) {
        let scope = popScope()
        list.fillDictionary(objects[Int(uid)], pairs, from: scope.base)
        pairs.truncate(to: scope.base)
    }

    /// The place of a class that is described, not known; equal descriptions share one.
    func classUID(_ description: ArchiveTree.ClassDescription) -> UID {
        if let known = describedClasses[description] { return known }
        let uid = reserveObject()
        pushScope()
        set(stored: "$classname", name(description.name))
        for (key, names) in [("$classes", description.chain), ("$classhints", description.hints)] {
            if !names.isEmpty { set(stored: key, array(of: names)) }
        }
        popDictionary(uid)
        describedClasses[description] = uid
        return uid
    }

    func array(of members: [Reference]) -> Reference {
        let made = list.reserveContainer()
        list.fillArray(made, count: members.count)
        for member in members { list.addElement(member) }
        return made
    }

    func set(of members: [Reference]) -> Reference {
        let made = list.reserveContainer()
        list.fillSet(made, count: members.count)
        for member in members { list.addElement(member) }
        return made
    }

    func dictionary(of entries: [(key: String, value: Reference)]) -> Reference {
        let made = list.reserveContainer()
        let base = pairs.count
        for entry in entries { set(stored: entry.key, entry.value) }
        list.fillDictionary(made, pairs, from: base)
        pairs.truncate(to: base)
        return made
    }

    func scalar(date seconds: Double) -> Reference { list.add(date: seconds) }
    func null() -> Reference { list.addNull() }
}
