import KeyedArchive

/// What any document holds, as one value: references to objects of an archive are numbers here.
typealias PropertyListContent = PropertyListValue<Int>
