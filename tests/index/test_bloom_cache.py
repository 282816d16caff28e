"""Bloom filters are kept up to a number of bytes; those that were not used for longest leave first."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from dctv import _kernels
from dctv.index.bloom_cache import BloomCache, Key
from dctv.index.records import Bloom


def _blob(text: str) -> Bloom:
    bloom = _kernels.Bloom(100)
    bloom.add(text)
    return Bloom(bloom.to_bytes(), 1)


def _key(position: int, index: str = "one") -> Key:
    return (Path(index), "1", "name", position)


SIZE = len(_blob("a").data) + 100


def test_a_filter_is_read_once() -> None:
    cache, reads = BloomCache(), []

    def read() -> Bloom:
        reads.append(1)
        return _blob("a")

    found = [cache.get(_key(0), read) for _ in range(3)]
    assert all(one is not None and one.may_contain("a") and not one.may_contain("b") for one in found)
    assert len(reads) == 1


def test_the_least_recently_used_leave() -> None:
    cache = BloomCache(limit=2 * SIZE)
    for position in (0, 1, 0, 2):
        cache.get(_key(position), lambda: _blob("a"))
    assert [cache.is_cached(_key(n)) for n in range(3)] == [True, False, True]
    assert cache.bytes == 2 * SIZE


def test_a_filter_larger_than_the_cache_is_not_cached() -> None:
    cache = BloomCache(limit=SIZE - 1)
    assert cache.get(_key(0), lambda: _blob("a")) is not None
    assert len(cache) == cache.bytes == 0


def test_missing_and_damaged_filters_are_none() -> None:
    cache = BloomCache()
    assert cache.get(_key(0), lambda: None) is None
    assert cache.get(_key(1), lambda: Bloom(b"no filter", 1)) is None
    assert cache.is_cached(_key(1))


def test_indexes_do_not_mix() -> None:
    cache = BloomCache()
    cache.get(_key(0), lambda: _blob("a"))
    other = cache.get(_key(0, "other"), lambda: _blob("b"))
    assert other is not None
    assert not other.may_contain("a")


def test_several_threads() -> None:
    cache = BloomCache(limit=5 * SIZE)

    def use(number: int) -> bool:
        found = cache.get(_key(number % 20), lambda: _blob(str(number % 20)))
        return found is not None and found.may_contain(str(number % 20))

    with ThreadPoolExecutor(8) as pool:
        assert all(pool.map(use, range(2000)))
    assert cache.bytes <= 5 * SIZE
