#!/usr/bin/env python3
"""Fetches and saves pickled articles on a Redis server by redis-py and cashews (both from PyPI), as lines of standard input
ask for, and answers each by a line.

usage: shared_redis.py PORT ARTICLES

fetch|save sync|threads|asyncio|pipeline TASKS SECONDS    operations a second, and microseconds of processor time for each
hit redis-py|cashews                                      nanoseconds of a hit in the client's memory
trial COUNT                                               of so many keys, those that two caches read differently for good
"""

import asyncio
import json
import pickle
import sys
import threading
import time

import redis
import redis.asyncio
import redis.connection
from cashews import Cache
from redis.cache import CacheConfig

PORT = int(sys.argv[1])
with open(sys.argv[2], encoding="utf-8") as file:
    ARTICLES = json.load(file)
MASK = len(ARTICLES) - 1
assert len(ARTICLES) & MASK == 0

# redis-py's own cache refuses servers before 7.4; they track keys just as well.
redis.connection.CacheProxyConnection.MIN_ALLOWED_VERSION = "6.2.0"


def key(number: int) -> str:
    return f"peer:{number & MASK}"


def dumped(number: int) -> bytes:
    return pickle.dumps(ARTICLES[number & MASK], protocol=pickle.HIGHEST_PROTOCOL)


def loaded(data: bytes, number: int) -> None:
    if pickle.loads(data)["number"] != number & MASK:
        raise ValueError("another article was fetched")


def sync(client: redis.Redis, fetches: bool, end: float) -> int:
    count = 0
    while time.perf_counter() < end:
        if fetches:
            loaded(client.get(key(count)), count)
        else:
            client.set(key(count), dumped(count))
        count += 1
    return count


def threads(client: redis.Redis, fetches: bool, tasks: int, end: float) -> int:
    counts = []
    some = [threading.Thread(target=lambda: counts.append(sync(client, fetches, end))) for _ in range(tasks)]
    for thread in some:
        thread.start()
    for thread in some:
        thread.join()
    return sum(counts)


def pipeline(client: redis.Redis, fetches: bool, tasks: int, end: float) -> int:
    count = 0
    with client.pipeline(transaction=False) as commands:
        while time.perf_counter() < end:
            for number in range(count, count + tasks):
                if fetches:
                    commands.get(key(number))
                else:
                    commands.set(key(number), dumped(number))
            answers = commands.execute()
            if fetches:
                for offset, data in enumerate(answers):
                    loaded(data, count + offset)
            count += tasks
    return count


async def asynchronous(client: redis.asyncio.Redis, fetches: bool, tasks: int, end: float) -> int:
    async def work(first: int) -> int:
        count = 0
        while time.perf_counter() < end:
            number = first + count * tasks
            if fetches:
                loaded(await client.get(key(number)), number)
            else:
                await client.set(key(number), dumped(number))
            count += 1
        return count

    return sum(await asyncio.gather(*[work(task) for task in range(tasks)]))


class Peers:
    def __init__(self) -> None:
        self.loop = asyncio.new_event_loop()
        self.client = redis.Redis(port=PORT, max_connections=1024)
        self.asynchronous = redis.asyncio.Redis(port=PORT, max_connections=1024)
        for number in range(len(ARTICLES)):
            self.client.set(key(number), dumped(number))
        self.near = redis.Redis(port=PORT, protocol=3, cache_config=CacheConfig(max_size=10_000))

    def measure(self, fetches: bool, way: str, tasks: int, seconds: float) -> str:
        cpu = time.process_time()
        start = time.perf_counter()
        end = start + seconds
        if way == "sync":
            count = sync(self.client, fetches, end)
        elif way == "threads":
            count = threads(self.client, fetches, tasks, end)
        elif way == "pipeline":
            count = pipeline(self.client, fetches, tasks, end)
        else:
            count = self.loop.run_until_complete(asynchronous(self.asynchronous, fetches, tasks, end))
        taken = time.perf_counter() - start
        return f"{count / taken} {(time.process_time() - cpu) / count * 1e6}"

    def hit(self, library: str) -> str:
        count = 2_000
        if library == "redis-py":
            for number in range(len(ARTICLES)):
                self.near.get(key(number))
            start = time.perf_counter()
            for number in range(count):
                loaded(self.near.get(key(number)), number)
        else:
            start, count = self.loop.run_until_complete(self.cashews_hit(count)), count
        return str((time.perf_counter() - start) / count * 1e9)

    async def cashews_hit(self, count: int) -> float:
        cache = await self.cashews()
        for number, article in enumerate(ARTICLES):
            await cache.set(key(number), article, expire=600)
        start = time.perf_counter()
        for number in range(count):
            await cache.get(key(number))
        end = time.perf_counter()
        await cache.close()
        # The closing is not counted.
        return start + time.perf_counter() - end

    async def cashews(self) -> Cache:
        cache = Cache()
        cache.setup(f"redis://127.0.0.1:{PORT}", client_side=True, suppress=False)
        await cache.init()
        return cache

    async def trial(self, count: int) -> int:
        one, other = await self.cashews(), await self.cashews()
        for number in range(count):
            await asyncio.gather(one.set(f"z{number}", "one", expire=600), other.set(f"z{number}", "other", expire=600))
        await asyncio.sleep(2)
        wrong = 0
        for number in range(count):
            wrong += await one.get(f"z{number}") != await other.get(f"z{number}")
        await one.close()
        await other.close()
        return wrong


def main() -> None:
    peers = Peers()
    print("ready", flush=True)
    for line in sys.stdin:
        words = line.split()
        if words[0] in ("fetch", "save"):
            print(peers.measure(words[0] == "fetch", words[1], int(words[2]), float(words[3])), flush=True)
        elif words[0] == "hit":
            print(peers.hit(words[1]), flush=True)
        else:
            print(peers.loop.run_until_complete(peers.trial(int(words[1]))), flush=True)


if __name__ == "__main__":
    main()
