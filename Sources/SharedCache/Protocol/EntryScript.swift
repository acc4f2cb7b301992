import Foundation
import RedisWire

/// Changes an entry if it is the very one that was seen, and ends the lease of its key, in one step.
///
/// Sent whole each time: the engine keeps scripts that it has seen, and one that it has lost by a restart needs no second
/// attempt. An entry is known by its last bytes; none, or another kind of value, has none.
struct EntryScript {
    /// The name of the entry.
    let name: String

    private static let ifSame = """
        local e=redis.pcall('GETRANGE',KEYS[1],-59,-1) if type(e)=='table' then e='' end if e~=ARGV[1] then return 0 end 
        """
    private static let endLease = "redis.call('DEL',KEYS[2]) "

    func remove() -> RedisCommand { command(Self.endLease + "return redis.call('DEL',KEYS[1])", []) }

    /// The answer is -1 for an entry that stays because it is of use.
    ///
    /// - Parameters:
    ///   - endsLease: whether this is a change: a load that is under way does not save then. The removal of an entry that is
    ///     of no use is not one: another machine may be loading the key because of that.
    ///   - date: until when the entry is of use, by the server's clock, which decides: a machine's own clock may be wrong.
    ///     `nil` for a removal that does not ask.
    func remove(
        ifEnding expected: [UInt8],
        endsLease: Bool,
        unlessUsableUntil date: Date? = nil
    ) -> RedisCommand {
        let end = endsLease ? Self.endLease : ""
        let remove = end + "return redis.call('DEL',KEYS[1])"
        guard let date else { return command(Self.ifSame + remove, [.bytes(expected)]) }
        let ifUseless = """
            local t=redis.call('TIME') if t[1]+t[2]/1000000<tonumber(ARGV[2]) then return -1 end 
            """
        let seconds = RedisCommand.Argument.text("\(date.timeIntervalSince1970)")
        return command(Self.ifSame + ifUseless + remove, [.bytes(expected), seconds])
    }

    /// Saves an entry whose parts were sent. The answer is that of `SET`.
    func saveParts(of entry: NewEntry) -> RedisCommand { save(entry, if: "", comparing: [""], answer: "{ok='OK'}") }

    func save(_ entry: NewEntry, ifEnding expected: [UInt8]) -> RedisCommand {
        save(entry, if: Self.ifSame, comparing: [.bytes(expected)])
    }

    /// Saves an entry if a lease has not ended, and no other entry than the one with these last bytes, of which only the
    /// save counts and not the deadline, is there.
    func save(_ entry: NewEntry, lease token: String, replacing seen: [UInt8]) -> RedisCommand {
        let condition = """
            if redis.call('GET',KEYS[2])~=ARGV[1] then return 0 end \
            local e=redis.pcall('GETRANGE',KEYS[1],-59,-1) if type(e)=='table' then e='' end \
            if e~='' and string.sub(e,1,11)~=string.sub(ARGV[4],1,11) then return 0 end 
            """
        return save(entry, if: condition, comparing: [.text(token), .bytes(seen)])
    }

    private func save(
        _ entry: NewEntry,
        if condition: String,
        comparing words: [RedisCommand.Argument],
        answer: String = "1"
    ) -> RedisCommand {
        let lifetime = entry.lifetime.milliseconds == nil ? "" : ",'PX',ARGV[3]"
        let isWhole = entry.parts.isEmpty
        let set = "redis.call('SET',KEYS[1],\(isWhole ? "ARGV[2]" : "table.concat(p)")\(lifetime)) "
        return command(
            condition + (isWhole ? "" : Self.readParts) + Self.endLease + set + (isWhole ? "" : Self.removeParts)
                + "return \(answer)",
            [words[0], isWhole ? .bytes(entry.bytes) : "", .integer(entry.lifetime.milliseconds ?? 0)]
                + words.dropFirst(),
            parts: entry.parts
        )
    }

    private static let readParts = """
        local p={} for i=3,#KEYS do p[i-2]=redis.call('GET',KEYS[i]) \
        if not p[i-2] then return redis.error_reply('NOPART a part of the entry was evicted') end end 
        """
    private static let removeParts = "redis.call('UNLINK',unpack(KEYS,3)) "

    /// Puts another end in the place of the one that was seen.
    func replaceEnd(_ expected: [UInt8], by end: [UInt8], _ lifetime: Lifetime) -> RedisCommand {
        let write = "redis.call('SETRANGE',KEYS[1],redis.call('STRLEN',KEYS[1])-#ARGV[2],ARGV[2]) "
        let expire =
            lifetime.milliseconds == nil
            ? "redis.call('PERSIST',KEYS[1])" : "redis.call('PEXPIRE',KEYS[1],ARGV[3])"
        return command(
            Self.ifSame + write + expire + " return 1",
            [.bytes(expected), .bytes(end), .integer(lifetime.milliseconds ?? 0)]
        )
    }

    // MARK: Leases

    /// Takes the lease, if no other load has it. The answer is a ``LeaseState``, and the end of the entry.
    ///
    /// - Parameter unlessFresh: whether none is taken of a key with a fresh entry, by the server's clock. The end of its
    ///   freshness is 20 bytes from the start of the end, in seconds since 2001.
    func takeLease(_ token: String, milliseconds: Int, unlessFresh: Bool) -> RedisCommand {
        let look = """
            local e=redis.pcall('GETRANGE',KEYS[1],-59,-1) if type(e)=='table' then e='' end 
            """
        let fresh = """
            if #e==59 and string.sub(e,-4)=='TCAE' then local t=redis.call('TIME') \
            if struct.unpack('>d',string.sub(e,20,27))>t[1]-978307200+t[2]/1000000 then return {2,e} end end 
            """
        let take = "return {redis.call('SET',KEYS[2],ARGV[1],'NX','PX',ARGV[2]) and 1 or 0,e}"
        return command(look + (unlessFresh ? fresh : "") + take, [.text(token), .integer(milliseconds)])
    }

    /// Lets a lease last longer, if it has not ended.
    func extendLease(_ token: String, to milliseconds: Int) -> RedisCommand {
        command(
            "if redis.call('GET',KEYS[2])==ARGV[1] then return redis.call('PEXPIRE',KEYS[2],ARGV[2]) end return 0",
            [.text(token), .integer(milliseconds)]
        )
    }

    func endLease(_ token: String) -> RedisCommand {
        command(
            "if redis.call('GET',KEYS[2])==ARGV[1] then return redis.call('DEL',KEYS[2]) end return 0",
            [.text(token)]
        )
    }

    private func command(
        _ script: String,
        _ words: [RedisCommand.Argument],
        parts: [String] = []
    ) -> RedisCommand {
        let names = [name, EntryNames.lease(ofEntry: name)] + parts
        return RedisCommand(["EVAL", .text(script), .integer(names.count)] + names.map { .text($0) } + words)
    }
}
