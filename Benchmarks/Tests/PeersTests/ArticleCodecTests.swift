import Testing

@testable import benchmarks

struct ArticleCodecTests {
    @Test(arguments: [false, true])
    func articlesComeBack(reusesStreams: Bool) throws {
        let codec = ArticleCodec(reusesStreams: reusesStreams)
        for article in Article.make(count: 5, textByteCount: 3_000) {
            let bytes = try codec.bytes(of: article)
            let again = try codec.article(in: bytes)
            #expect(again.text == article.text)
            #expect(again.number == article.number)
            // As text of real models does, it shrinks to about a half.
            #expect((1_000..<2_200).contains(bytes.count))
        }
    }

    @Test(arguments: [false, true])
    func damagedBytesAreRefused(reusesStreams: Bool) throws {
        let codec = ArticleCodec(reusesStreams: reusesStreams)
        let article = try #require(Article.make(count: 1, textByteCount: 300).first)
        let bytes = try codec.bytes(of: article)
        #expect(throws: BenchmarkError.self) { try codec.article(in: Array(bytes.dropLast(9))) }
        #expect(throws: BenchmarkError.self) { try codec.article(in: []) }
    }
}
