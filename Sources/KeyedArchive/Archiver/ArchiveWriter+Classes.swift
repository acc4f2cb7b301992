// The dictionaries of classes: one for each class of an archive.

extension ArchiveWriter {
    func classUID(_ info: ArchivedClass) -> UID {
        if classIndex.isEmpty {
            for known in classes where known.info === info { return known.uid }
        } else if let known = classIndex[ObjectIdentifier(info)] {
            return known
        }
        let uid = reserveObject()
        let written = givenNames.entry(for: info)
        let base = pairs.count
        let nameReference = name(written.name)
        let chain =
            written.chain.isEmpty
            ? nil : array(of: written.chain, first: written.isFirstOfChain ? nameReference : nil)
        let hints = written.hints.isEmpty ? nil : array(of: written.hints)
        pairs.append(KeyedReference(key: name("$classname"), value: nameReference))
        if let chain { pairs.append(KeyedReference(key: name("$classes"), value: chain)) }
        if let hints { pairs.append(KeyedReference(key: name("$classhints"), value: hints)) }
        list.fillDictionary(objects[Int(uid)], pairs, from: base)
        pairs.truncate(to: base)
        classes.append((info, uid))
        if !classIndex.isEmpty {
            classIndex[ObjectIdentifier(info)] = uid
        } else if classes.count > 8 {
            for known in classes { classIndex[ObjectIdentifier(known.info)] = known.uid }
        }
        return uid
    }

    /// An inline array of names of classes.
    ///
    /// - Parameter first: the first one, if it is written already.
    func array(of names: [String], first: Reference? = nil) -> Reference {
        // The strings first: making one may add an object of its own.
        let base = pairs.count
        if let first { pairs.append(KeyedReference(key: first, value: Self.null)) }
        for index in (pairs.count &- base)..<names.count {
            pairs.append(KeyedReference(key: name(names[index]), value: Self.null))
        }
        let made = list.reserveContainer()
        list.fillArray(made, count: names.count)
        for index in base..<pairs.count { list.addElement(pairs[index].key) }
        pairs.truncate(to: base)
        return made
    }
}
