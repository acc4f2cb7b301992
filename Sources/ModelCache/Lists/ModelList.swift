import TypedCache

/// A list of models in the order that the server gives, in pages.
///
/// ```swift
/// struct Feed: ModelList {
///     typealias Element = Article
///     var topic: String
///
///     var listKey: String { "feed/\(topic)" }
///     func request(after cursor: PageCursor?) -> ModelRequest {
///         .get("/articles", query: ["topic": topic, "after": cursor?.text])
///     }
///     func page(in body: ModelBody) throws -> ModelPage<Article> { try body.page(items: "items", next: "next") }
/// }
/// ```
///
/// A list keeps the identities of its elements; the elements are models of their own.
public protocol ModelList: Sendable, Hashable {
    /// The type of the list's models.
    associatedtype Element: CachedModel
    /// The type of the details that an answer has of the whole list: a total, facets; none by default. It is kept as JSON.
    associatedtype Details: Codable & Equatable & Sendable = NoDetails

    /// The list's name among all lists of an account: 1 to 1,024 UTF-8 bytes. Parameters of the list are part of it.
    var listKey: String { get }

    /// How long the list is fresh where the server does not say; a minute by default. Its elements have a freshness of
    /// their own.
    var freshness: Duration { get }

    /// Groups that the list belongs to, for ``Models/invalidate(_:)``; none by default. At most 10 of 1 to
    /// 256 UTF-8 bytes: a list with longer or more tags is not written to disk.
    var tags: Set<String> { get }

    /// The request for a page.
    ///
    /// - Parameter cursor: where the page before ends; `nil` for the first page.
    func request(after cursor: PageCursor?) -> ModelRequest

    /// The request for the page in front of the first element that is known; by default as for the page after a cursor: a
    /// cursor of the server's own mostly says which way it goes.
    ///
    /// - Parameter cursor: the ``ModelPage/previous`` of the page after it.
    func request(before cursor: PageCursor) -> ModelRequest

    /// Decodes a page; by default the whole body is an array in JSON, and the only page.
    func page(in body: ModelBody) throws -> ModelPage<Element>

    /// Decodes the list's details from the answer with a page. The latest page's details are kept with the list
    /// (``ListSnapshot/details``).
    func details(in body: ModelBody) throws -> Details
}

/// The details of a list that has none.
public struct NoDetails: Codable, Hashable, Sendable {
    /// Makes the details of a list that has none.
    public init() {}
}

extension ModelList where Details == NoDetails {
    public func details(in body: ModelBody) throws -> NoDetails { NoDetails() }
}

extension ModelList {
    public var freshness: Duration { .seconds(60) }
    public var tags: Set<String> { [] }
    public func request(before cursor: PageCursor) -> ModelRequest { request(after: cursor) }
    public func page(in body: ModelBody) throws -> ModelPage<Element> { try body.page() }
}

/// One page of a list.
public struct ModelPage<Element: CachedModel>: Sendable, Equatable {
    /// The page's elements, in the list's order.
    public var elements: [Element]
    /// Where the next page begins; `nil`: this is the last one.
    public var next: PageCursor?
    /// The cursor of the page in front of this one; `nil` at the list's start.
    public var previous: PageCursor?

    /// Makes a page: the only one of its list, unless it has cursors.
    public init(_ elements: [Element], next: PageCursor? = nil, previous: PageCursor? = nil) {
        self.elements = elements
        self.next = next
        self.previous = previous
    }
}

/// The place in a list where a page begins.
public struct PageCursor: Sendable, Hashable, Decodable {
    /// The cursor as the server wrote it, or the offset in decimal.
    public let text: String
    /// The number of elements before the page; `nil` for a server's own cursor.
    public let offset: Int?

    /// A server's own cursor.
    public init(_ text: String) {
        self.text = text
        offset = nil
    }

    private init(offset: Int) {
        text = String(offset)
        self.offset = offset
    }

    /// The same without a meaning here: in front, nothing is counted.
    var opaque: PageCursor { PageCursor(text) }

    /// The number of elements before the page. It moves with elements that the program inserts and removes, never so far up
    /// that the next page would lose one.
    public static func offset(_ count: Int) -> PageCursor { PageCursor(offset: count) }

    /// Reads a server's own cursor: a string or a whole number.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if let text = try? container.decode(String.self) {
            self.init(text)
        } else {
            self.init(String(try container.decode(Int.self)))
        }
    }
}
