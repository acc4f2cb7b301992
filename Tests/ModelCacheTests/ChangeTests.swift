import Foundation
import ModelCache
import ModelCacheTesting
import Testing
import TypedCache

private struct Refused: Error {}

/// Changes that show before the server has taken them.
@Suite struct ChangeTests {
    @Test(arguments: 0..<6)
    func threeChangesInFlightFailAndEndByThemselves(order: Int) async throws {
        let stage = try Stage()
        var models = try await stage.open()
        try await models.save(Article(id: 1, title: "base", author: ModelLink(1), topic: "base"))
        let gates = (0..<3).map { _ in Gate() }
        let cache = models
        let changes = [
            Task {
                try await cache.change {
                    $0.update(Article.self, id: 1) { $0.title = "a" }
                } sending: {
                    await gates[0].pass()
                }
            },
            Task {
                try await cache.change {
                    $0.update(Article.self, id: 1) { $0.author = ModelLink(2) }
                } sending: {
                    await gates[1].pass()
                    throw Refused()
                }
            },
            Task {
                try await cache.change {
                    $0.update(Article.self, id: 1) { $0.topic = "c" }
                } sending: {
                    await gates[2].pass()
                }
            },
        ]
        for gate in gates { await gate.reached() }
        #expect(
            try await models.stored(Article.self, id: 1)?.value
                == Article(id: 1, title: "a", author: ModelLink(2), topic: "c")
        )
        #expect(try await models.stored(Article.self, id: 1)?.isChanging == true)
        // The order in which they end.
        var places = [0, 1, 2]
        let first = places.remove(at: order / 2)
        let second = places.remove(at: order % 2)
        for place in [first, second] + places {
            gates[place].open()
            _ = await changes[place].result
        }
        let expected = Article(id: 1, title: "a", author: ModelLink(1), topic: "c")
        #expect(try await models.stored(Article.self, id: 1)?.value == expected)
        #expect(try await models.stored(Article.self, id: 1)?.isChanging == false)
        try await models.close()
        models = try await stage.open()
        #expect(try await models.stored(Article.self, id: 1)?.value == expected)
    }

    @Test func anAnswerThatComesMeanwhileShowsBelowTheChange() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "server", bio: "new")
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "base", bio: "old"))
        try await models.change {
            $0.update(User.self, id: 1) { $0.name = "mine" }
        } sending: {
            _ = try await models.fetch(User.self, id: 1, .reload)
            let shown = try await models.stored(User.self, id: 1)
            #expect(shown?.value == User(id: 1, name: "mine", bio: "new"))
        }
        #expect(try await models.stored(User.self, id: 1)?.value == User(id: 1, name: "mine", bio: "new"))
    }

    @Test func aChangeThatIsTakenBackShowsTheAnswerThatCameMeanwhile() async throws {
        let stage = try Stage()
        stage.server.answerUser(1, "server")
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "base", bio: "old"))
        do {
            try await models.change {
                $0.update(User.self, id: 1) { $0.name = "mine" }
            } sending: {
                _ = try await models.fetch(User.self, id: 1, .reload)
                throw Refused()
            }
            Issue.record("the change was taken")
        } catch is Refused {}
        #expect(try await models.stored(User.self, id: 1)?.value.name == "server")
    }

    @Test func modelsAndListsAreAddedAndRemovedAtOnceAndTakenBack() async throws {
        let stage = try Stage()
        stage.server.answer("/articles?topic=swift", .json(#"{"items": [{"id": 1, "title": "t", "author": 7}]}"#))
        let models = try await stage.open()
        let feed = Feed(topic: "swift")
        _ = try await models.fetch(feed)
        let new = Article(id: 2, title: "new", author: ModelLink(7))
        do {
            try await models.change { draft in
                draft.insert(new, into: feed, at: .start)
                draft.remove(Article.self, id: 1)
            } sending: {
                let shown = try await models.stored(feed)
                #expect(shown?.elements == [new])
                #expect(shown?.holes == [])
                #expect(shown?.isChanging == true)
                let removed = try await models.stored(Article.self, id: 1)
                #expect(removed == nil)
                throw Refused()
            }
        } catch is Refused {}
        #expect(try await models.stored(feed)?.elements.map(\.id) == [1])
        #expect(try await models.stored(Article.self, id: 2) == nil)
        // Taken.
        try await models.change { draft in
            draft.insert(new, into: feed, at: .start)
            draft.remove(id: 1, from: feed)
            draft.remove(Article.self, id: 1)
        } sending: {
        }
        #expect(try await models.stored(feed)?.elements == [new])
        #expect(try await models.stored(feed)?.holes == [])
    }

    @Test func aChangeIsGoneWithItsProcess() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save(User(id: 1, name: "base", bio: "b"))
        let gate = Gate()
        let change = Task {
            try await models.change {
                $0.update(User.self, id: 1) { $0.name = "mine" }
            } sending: {
                await gate.pass()
            }
        }
        await gate.reached()
        await models.flush()
        // As a launch after a kill finds it.
        let copy = stage.directory.url.appending(path: "copy")
        try FileManager.default.copyItem(at: stage.directory.url.appending(path: "42"), to: copy)
        let later = try await stage.open(account: "copy")
        #expect(try await later.stored(User.self, id: 1)?.value.name == "base")
        gate.open()
        try await change.value
    }

    @Test func aModelThatCannotBeWrittenKeepsNoOtherOffTheDisk() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        // Its tag is too long.
        let refused = Article(id: 1, title: "t", author: ModelLink(7), topic: String(repeating: "t", count: 257))
        await expect(.storage) {
            try await models.change {
                $0.save(refused)
                $0.save(User(id: 7, name: "a", bio: "b"))
            }
        }
        #expect(try await models.stored(Article.self, id: 1)?.value == refused)
        try await models.close()
        let later = try await stage.open()
        #expect(try await later.stored(Article.self, id: 1) == nil)
        #expect(try await later.stored(User.self, id: 7)?.value.name == "a")
    }

    /// The server has taken the change.
    @Test func aConfirmedChangeStaysWhereAModelThatTheServerAddsCannotBeStored() async throws {
        let stage = try Stage()
        var models = try await stage.open()
        try await models.save(User(id: 1, name: "old", bio: "b"))
        await expect(.storage) {
            try await models.change {
                $0.update(User.self, id: 1) { $0.name = "new" }
            } sending: {
            } then: { draft, _ in
                // Its identity is not a key.
                draft.save(Comment(id: "", text: "t", author: ModelLink(1)))
            }
        }
        for _ in 0..<2 {
            let stored = try await models.stored(User.self, id: 1)
            #expect(stored?.value.name == "new" && stored?.isChanging == false)
            try await models.close()
            models = try await stage.open()
        }
        // Without a server, nothing is changed.
        await expect(.storage) {
            try await models.change {
                $0.update(User.self, id: 1) { $0.name = "newer" }
                $0.save(Comment(id: "", text: "t", author: ModelLink(1)))
            }
        }
        #expect(try await models.stored(User.self, id: 1)?.value.name == "new")
    }

    /// It is not there in any read; the server is not asked.
    @Test func aModelThatAChangeRemovesIsNotFoundUntilTheChangeIsTakenBack() async throws {
        let stage = try Stage()
        let models = try await stage.open()
        try await models.save((1...2).map { User(id: $0, name: "n", bio: "b") })
        await #expect(throws: Refused.self) {
            try await models.change {
                $0.remove(User.self, id: 1)
            } sending: {
                for connection in [ConnectionMode.online, .offline] {
                    models.mode = connection
                    for mode in [FetchMode.automatic, .staleWhileRevalidate, .reload] {
                        await expect(.notFound) { _ = try await models.fetch(User.self, id: 1, mode) }
                    }
                    #expect(try await models.fetch(User.self, ids: 1...2).keys.sorted() == [2])
                }
                models.mode = .online
                throw Refused()
            }
        }
        #expect(stage.server.requests.isEmpty)
        #expect(try await models.fetch(User.self, id: 1).name == "n")
    }

    @Test(arguments: [[1], [1, 2]])
    func aModelThatAChangeRemovesDuringItsLoadIsNotFound(ids: [Int]) async throws {
        let stage = try Stage()
        let path = ids.count > 1 ? "/users" : "/users/1"
        let users = (1...2).map { "{\"id\": \($0), \"name\": \"n\", \"bio\": \"b\"}" }
        stage.server.answer(path, .json(ids.count > 1 ? "[\(users.joined(separator: ", "))]" : users[0]))
        stage.server.hold(path)
        let models = try await stage.open()
        let fetched = Task { try await models.fetch(User.self, ids: ids, .reload) }
        await stage.server.requested(1)
        try await models.change {
            $0.remove(User.self, id: 1)
        } sending: {
            stage.server.release(path)
            let found = try await fetched.value
            #expect(found.keys.sorted() == ids.filter { $0 != 1 })
        }
        #expect(try await models.stored(User.self, id: 1) == nil)
    }
}
