import Foundation

/// A growing run of plain values, for the inner loops of writing archives.
///
/// An `Array` in a class is checked for unique ownership and for its bounds at every append; for archives of a
/// few hundred bytes that was half of the time. This has one owner by its type.
///
/// Why the pointers are safe: `base` always has room for `capacity` elements, of which the first `count` are
/// initialized; `count` never exceeds `capacity`, since every append reserves first; elements are bitwise
/// copyable, so nothing needs to be destroyed, and they may be moved by `realloc`; the buffer cannot be copied,
/// so `deinit` frees `base` once. Subscripts are checked: their indices may come from outside this file.
struct RawBuffer<Element: BitwiseCopyable>: ~Copyable {
    private var base: UnsafeMutablePointer<Element>
    private(set) var capacity: Int
    private(set) var count = 0

    init(capacity: Int) {
        self.capacity = max(1, capacity)
        base = Self.memory(at: nil, for: self.capacity)
    }

    deinit { free(base) }

    var isEmpty: Bool { count == 0 }

    /// Where the elements begin, until the buffer is changed or gone: its owner must see to that.
    var start: UnsafePointer<Element> { UnsafePointer(base) }

    subscript(index: Int) -> Element {
        @inline(__always) get {
            precondition(index >= 0 && index < count)
            return base[index]
        }
        // Not `set`, so that one field is changed without a copy of the others.
        @inline(__always) _modify {
            precondition(index >= 0 && index < count)
            yield &base[index]
        }
    }

    @inline(__always)
    mutating func append(_ element: Element) {
        reserve(1)
        base[count] = element
        count &+= 1
    }

    mutating func append(contentsOf elements: UnsafeBufferPointer<Element>) {
        guard let source = elements.baseAddress else { return }
        reserve(elements.count)
        (base + count).update(from: source, count: elements.count)
        count &+= elements.count
    }

    /// Appends the elements of another buffer.
    @inline(__always)
    mutating func append(contentsOf other: borrowing RawBuffer) {
        if other.isEmpty { return }
        reserve(other.count)
        (base + count).update(from: other.base, count: other.count)
        count &+= other.count
    }

    /// Puts the elements of another buffer in front of its own, which are moved in place.
    mutating func prepend(contentsOf other: borrowing RawBuffer) {
        reserve(other.count)
        (base + other.count).update(from: base, count: count)
        base.update(from: other.base, count: other.count)
        count &+= other.count
    }

    /// Appends an element `count` times.
    mutating func append(repeating element: Element, count added: Int) {
        reserve(added)
        (base + count).update(repeating: element, count: added)
        count &+= added
    }

    /// Drops everything from `newCount` on.
    mutating func truncate(to newCount: Int) {
        precondition(newCount >= 0 && newCount <= count)
        count = newCount
    }

    /// Gives the elements away, in memory of their size, which the caller must `free`. None are left.
    mutating func take() -> UnsafeMutableBufferPointer<Element> {
        let taken = UnsafeMutableBufferPointer(start: Self.memory(at: base, for: max(1, count)), count: count)
        capacity = 1
        base = Self.memory(at: nil, for: 1)
        count = 0
        return taken
    }

    /// The elements, valid only while `body` runs.
    func withElements<Result>(_ body: (UnsafeBufferPointer<Element>) throws -> Result) rethrows -> Result {
        try body(UnsafeBufferPointer(start: base, count: count))
    }

    @inline(__always)
    mutating func reserve(_ additional: Int) {
        if capacity &- count < additional { grow(by: additional) }
    }

    @inline(never)
    private mutating func grow(by additional: Int) {
        // Checked addition and multiplication: sizes that do not fit end the process, never wrap round.
        let larger = max(capacity * 2, count + additional)
        base = Self.memory(at: base, for: larger)
        capacity = larger
    }

    /// Memory for `capacity` elements, with the elements at `base`.
    ///
    /// Not `allocate`: the system makes large runs longer without copying them, and without both at a time.
    private static func memory(at base: UnsafeMutablePointer<Element>?, for capacity: Int) -> UnsafeMutablePointer<
        Element
    > {
        precondition(MemoryLayout<Element>.alignment <= 16, "the system aligns memory to 16 bytes")
        guard let memory = realloc(base, capacity * MemoryLayout<Element>.stride) else {
            preconditionFailure("there is no memory left for an archive")
        }
        return memory.bindMemory(to: Element.self, capacity: capacity)
    }
}

extension RawBuffer where Element == UInt8 {
    /// Appends a byte and text, which is mostly short: two loads and stores that may overlap take less time than a call.
    ///
    /// Why they are safe: each begins and ends within the text, and within the room that was reserved for it.
    @inline(__always)
    mutating func append(_ first: UInt8, text: UnsafeBufferPointer<UInt8>) {
        let length = text.count
        reserve(length &+ 1)
        base[count] = first
        count &+= 1
        guard length >= 4, length <= 16, let start = text.baseAddress else { return append(contentsOf: text) }
        let source = UnsafeRawPointer(start)
        let target = UnsafeMutableRawPointer(base + count)
        if length >= 8 {
            let last = source.loadUnaligned(fromByteOffset: length &- 8, as: UInt64.self)
            target.storeBytes(of: source.loadUnaligned(as: UInt64.self), as: UInt64.self)
            target.storeBytes(of: last, toByteOffset: length &- 8, as: UInt64.self)
        } else {
            let last = source.loadUnaligned(fromByteOffset: length &- 4, as: UInt32.self)
            target.storeBytes(of: source.loadUnaligned(as: UInt32.self), as: UInt32.self)
            target.storeBytes(of: last, toByteOffset: length &- 4, as: UInt32.self)
        }
        count &+= length
    }

    /// Whether the bytes from `offset` on are those of `text`.
    @inline(__always)
    func holds(_ text: UnsafeBufferPointer<UInt8>, at offset: Int) -> Bool {
        precondition(offset >= 0 && text.count <= count && offset <= count &- text.count)
        return haveSameBytes(UnsafeBufferPointer(start: base + offset, count: text.count), text)
    }

    /// Appends one number for each element of `other`, as `number` makes it, in `width` bytes, the highest first.
    ///
    /// Why the stores are safe: there is room for all of them and the eight bytes that the last one may take.
    ///
    /// - Precondition: `width` is 1 to 8.
    @inline(__always)
    mutating func append<Other: BitwiseCopyable>(
        bigEndian other: borrowing RawBuffer<Other>,
        width: Int,
        _ number: (Other) -> Int
    ) {
        reserve(other.count * width + 8)
        var at = count
        for index in 0..<other.count {
            if width == 1 {
                base[at] = UInt8(truncatingIfNeeded: number(other.base[index]))
                at &+= 1
            } else {
                at = store(number(other.base[index]), at: at, width: width)
            }
        }
        count = at
    }

    /// Appends containers, each with its marker, and puts the offset at which it begins, shifted by `shift`, into `offsets`.
    ///
    /// - Parameters:
    ///   - words: for each container its number, the marker's high half, how many references or pairs of them there
    ///     are, and these.
    ///   - width: the bytes of a reference, 1 to 4.
    ///
    /// Why the stores are safe: a head takes six bytes at most and three words, so that there is room for twice the
    /// words, and the eight bytes that the last store may take. The loads are checked.
    mutating func append(
        containers words: borrowing RawBuffer<UInt32>,
        width: Int,
        offsets: inout RawBuffer<Int>,
        shift: Int
    ) {
        reserve(2 * width * words.count + 8)
        let target = base
        var (index, at) = (0, count)
        while index < words.count {
            precondition(words.count &- index >= 3)
            offsets[Int(words.base[index])] = at &<< shift
            let marker = UInt8(truncatingIfNeeded: words.base[index &+ 1])
            let length = Int(words.base[index &+ 2])
            index &+= 3
            let isDictionary = marker == 0xD0
            let (step, end) = isDictionary ? (2, index &+ 2 &* length) : (1, index &+ length)
            precondition(end <= words.count)
            if length < 15 {
                target[at] = marker | UInt8(truncatingIfNeeded: length)
                at &+= 1
            } else {
                let power = length <= 0xFF ? 0 : length <= 0xFFFF ? 1 : 2
                target[at] = marker | 0x0F
                target[at &+ 1] = 0x10 | UInt8(power)
                at = store(length, at: at &+ 2, width: 1 &<< power)
            }
            // The keys, and then the values.
            for first in index..<index &+ step {
                var word = first
                while word < end {
                    if width == 1 {
                        // Nearly every archive has fewer than 256 objects.
                        target[at] = UInt8(truncatingIfNeeded: words.base[word])
                        at &+= 1
                    } else {
                        at = store(Int(words.base[word]), at: at, width: width)
                    }
                    word &+= step
                }
            }
            index = end
        }
        count = at
    }

    /// Stores eight bytes, of which the first `width` are those of a number, and returns where they end.
    @inline(__always)
    private func store(_ number: Int, at offset: Int, width: Int) -> Int {
        let word = (UInt64(truncatingIfNeeded: number) &<< UInt64(truncatingIfNeeded: 64 &- 8 &* width)).bigEndian
        UnsafeMutableRawPointer(base + offset).storeBytes(of: word, as: UInt64.self)
        return offset &+ width
    }

    /// Appends the low `width` bytes of a number, the highest first.
    ///
    /// - Precondition: `width` is 1 to 8.
    @inline(__always)
    mutating func append(bigEndian value: UInt64, width: Int) {
        // All eight bytes are written, of which `width` are kept: one store for every width.
        reserve(8)
        let shifted = (value &<< UInt64(truncatingIfNeeded: 64 &- 8 &* width)).bigEndian
        UnsafeMutableRawPointer(base + count).storeBytes(of: shifted, as: UInt64.self)
        count &+= width
    }
}

extension RawBuffer where Element == UInt32 {
    /// Appends the keys and values of `pairs` from `start` on, pair by pair.
    ///
    /// Why the stores are safe: a pair is two numbers, for which there is room.
    @inline(__always)
    mutating func append(pairsOf pairs: borrowing RawBuffer<KeyedReference>, from start: Int) {
        precondition(start >= 0 && start <= pairs.count)
        let added = pairs.count &- start
        reserve(2 * added)
        let source = pairs.start + start
        let target = UnsafeMutableRawPointer(base + count)
        for index in 0..<added {
            target.storeBytes(of: source[index], toByteOffset: index &* 8, as: KeyedReference.self)
        }
        count &+= 2 &* added
    }
}

/// The reference in a value that is known to be an object.
///
/// `as AnyObject` on a value of generic type goes through the runtime's bridging, 180 ns on Linux.
///
/// Why the cast is safe: a value of a class type is one reference, and so is an `AnyObject`. Where the type is not
/// a class but `AnyObject`, say, the runtime is asked.
func reference<T>(of value: T) -> AnyObject {
    T.self is AnyClass ? unsafeBitCast(value, to: AnyObject.self) : value as AnyObject
}

/// An object as an instance of its own class, without asking the runtime, which takes 30 ns; `nil` if its class is
/// not exactly `type`.
///
/// Why the cast is safe: the object's own class is compared.
func instance<T>(_ object: AnyObject, of type: T.Type) -> T? {
    guard Swift.type(of: object) == type else { return nil }
    return unsafeBitCast(object, to: type)
}

/// `value` as `type`, which is its own type, though the compiler does not know it.
///
/// Why it is safe: the types are compared first.
@inline(__always)
func identity<Value, T>(_ value: Value, as type: T.Type) -> T {
    precondition(Value.self == type)
    return unsafeBitCast(value, to: type)
}

/// The value in an `Any`, if it is exactly of `type`; a cast takes six times as long.
///
/// Why the cast is safe: both types are the same one.
@inlinable
@inline(__always)
func content<T>(of value: Any, as type: T.Type) -> T? {
    func open<Content>(_ content: Content) -> T? {
        Content.self == type ? unsafeBitCast(content, to: type) : nil
    }
    return open(value)
}

/// A value of one of the types that most values in archives have.
enum CommonValue {
    case text(String)
    case number(Double)

    /// The value in an `Any`; `nil` if it is of another type.
    ///
    /// Why the casts are safe: the types are compared first.
    @inline(__always)
    init?(_ value: Any) {
        func open<Content>(_ content: Content) -> CommonValue? {
            if Content.self == String.self { return .text(unsafeBitCast(content, to: String.self)) }
            return Content.self == Double.self ? .number(unsafeBitCast(content, to: Double.self)) : nil
        }
        guard let found = open(value) else { return nil }
        self = found
    }
}

/// Has `body` look at the value in an optional; `nil` if there is none. To bind the value to a name copies it, through
/// the runtime, which takes 120 instructions.
///
/// Why it is safe: an optional `Any` that is not nil is laid out as the `Any` in it, and it is there while `body` runs.
@inline(__always)
func withContent<Result>(of value: Any?, _ body: (Any) -> Result) -> Result? {
    if value == nil { return nil }
    return withUnsafePointer(to: value) { body(UnsafeRawPointer($0).assumingMemoryBound(to: Any.self).pointee) }
}

/// Whether two runs of bytes are the same.
///
/// Most are names of a few letters, for which two loads that may overlap take less time than a call.
///
/// Why the loads are safe: both runs have `count` bytes, and no load begins before the first or ends after the
/// last of them.
@inline(__always)
func haveSameBytes(_ left: UnsafeBufferPointer<UInt8>, _ right: UnsafeBufferPointer<UInt8>) -> Bool {
    let count = left.count
    guard count == right.count else { return false }
    guard let start = UnsafeRawPointer(left.baseAddress), let other = UnsafeRawPointer(right.baseAddress)
    else { return true }
    if count > 16 { return memcmp(start, other, count) == 0 }
    if count >= 8 { return haveSameEnds(start, other, count: count, by: UInt64.self) }
    if count >= 4 { return haveSameEnds(start, other, count: count, by: UInt32.self) }
    for at in 0..<count
    where start.load(fromByteOffset: at, as: UInt8.self) != other.load(fromByteOffset: at, as: UInt8.self) {
        return false
    }
    return true
}

@inline(__always)
private func haveSameEnds<Word: FixedWidthInteger & BitwiseCopyable>(
    _ left: UnsafeRawPointer,
    _ right: UnsafeRawPointer,
    count: Int,
    by type: Word.Type
) -> Bool {
    let last = count &- MemoryLayout<Word>.size
    let first = left.loadUnaligned(as: type) ^ right.loadUnaligned(as: type)
    let end =
        left.loadUnaligned(fromByteOffset: last, as: type) ^ right.loadUnaligned(fromByteOffset: last, as: type)
    return first | end == 0
}
