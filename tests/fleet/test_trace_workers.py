"""Work that is handed out: results come in order, and a slow piece keeps nobody else waiting."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, Executor, Future, ThreadPoolExecutor
from typing import Any

import pytest

from dctv.errors import Interrupted, TraceError, UsageError
from dctv.index.mounting import IndexPolicy
from dctv.progress import Progress
from dctv.run import dispatching
from dctv.run.dispatching import Dispatcher, Outcome, done_together
from dctv.run.limits import Limits
from dctv.run.trace_workers import TraceWork, TraceWorkers

LIMITS = Limits(IndexPolicy(when=False), 1, None, None)
PATIENCE = 20.0


def call(_: Limits, work: Callable[..., Any], *arguments: Any) -> Any:
    """Call a function that needs no context."""
    return work(None, *arguments)


def itself(_: None, number: int) -> int:
    """Return the number."""
    return number


ITSELF = TraceWork(itself, size=lambda _: 1)


@pytest.fixture
def results() -> Iterator[Callable[..., Iterator[Any]]]:
    """What two threads give for each of some numbers."""
    with ThreadPoolExecutor(2) as executor:
        workers = TraceWorkers(call, 2, executor)

        def given(
            work: Callable[[None, int], int],
            count: int,
            size: Callable[[Any], int] = lambda _: 0,
            weights: Sequence[int] = (),
        ) -> Iterator[Any]:
            each = [(number,) for number in range(count)]
            return workers.results(TraceWork(work, size=size), each, lambda _: LIMITS, Progress(None), weights)

        yield given


def test_others_go_on_while_the_first_is_slow(results: Callable[..., Iterator[Any]]) -> None:
    all_but_one = threading.Semaphore(0)

    def work(_: None, number: int) -> int:
        if number:
            all_but_one.release()
            return number
        return all(all_but_one.acquire(timeout=PATIENCE) for _ in range(49)) - 1

    assert list(results(work, 50)) == list(range(50))


def test_what_is_finished_early_is_bounded(
    results: Callable[..., Iterator[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dctv.run.dispatching._HELD", 100)
    begun: list[int] = []
    third = threading.Event()

    def work(_: None, number: int) -> int:
        begun.append(number)
        if number == 0:
            assert third.wait(PATIENCE)
            time.sleep(0.2)
        if number == 3:
            third.set()
        return number

    found = results(work, 50, lambda _: 40)
    assert next(found) == 0
    # Three results of 40 bytes are too many; as the first two came, two more pieces were handed out.
    assert max(begun) <= 5
    assert list(found) == list(range(1, 50))


def test_the_heaviest_are_handed_out_first_once_results_are_known_to_be_small() -> None:
    cluster = Cluster()
    workers = TraceWorkers(call, 2, cluster)
    each = [(number,) for number in range(100)]
    weights = [1 << number % 50 for number in range(100)]
    found = workers.results(ITSELF, each, lambda _: LIMITS, Progress(None), weights)
    at_first: list[list[int]] = []

    def finish_one() -> None:
        cluster.wait_for(16)
        at_first.extend(cluster.pieces)
        cluster.finish(1)

    threading.Timer(0.1, finish_one).start()
    assert next(found) == 0
    assert at_first == [[number] for number in range(16)]
    cluster.finish(1)
    assert next(found) == 1
    heaviest = sorted(range(16, 100), key=lambda number: -weights[number])
    assert cluster.pieces == [[number] for number in (*range(2, 16), *heaviest)]
    cluster.finish(100)
    assert list(found) == list(range(2, 100))


def test_light_pieces_share_tasks_once_results_are_known_to_be_small() -> None:
    cluster = Cluster(workers=2)
    workers = TraceWorkers(call, 2, cluster)
    each = [(number,) for number in range(400)]
    weights = [dispatching._LIGHT // 4 if number < 40 else 1 for number in range(400)]
    found = workers.results(ITSELF, each, lambda _: LIMITS, Progress(None), weights)
    tasks: list[list[int]] = []

    def finish() -> None:
        while sum(map(len, tasks)) < 400:
            cluster.wait_for(1)
            tasks.append(cluster.pieces[0])
            cluster.finish(1)

    finisher = threading.Thread(target=finish)
    finisher.start()
    assert list(found) == list(range(400))
    finisher.join()
    sizes = [len(task) for task in tasks]
    # Nothing is known of the first, four of the heavy ones are as heavy as may be, and the last are for all workers.
    assert sizes[:4] == [1] * 4
    assert all(len(task) <= 4 for task in tasks if min(task) < 40)
    assert max(sizes) == 16
    assert sizes[-8:] == [1] * 8
    assert sizes[-40:] == sorted(sizes[-40:], reverse=True)


def test_a_piece_that_fails_leaves_the_others_of_its_task_alone() -> None:
    def work(_: None, number: int) -> int:
        if number == 70:
            raise UsageError("no")
        return number

    with ThreadPoolExecutor(2) as executor:
        each = [(number,) for number in range(200)]
        wanted = TraceWork(work, size=lambda _: 1)
        found = TraceWorkers(call, 2, executor).results(wanted, each, lambda _: LIMITS, Progress(None), [1] * 200)
        assert [next(found) for _ in range(70)] == list(range(70))
        with pytest.raises(UsageError, match="no"):
            next(found)


def test_large_results_are_asked_for_in_their_order(
    results: Callable[..., Iterator[Any]], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dctv.run.dispatching._HELD", 100)
    begun: list[int] = []

    def work(_: None, number: int) -> int:
        begun.append(number)
        return number

    assert list(results(work, 30, lambda _: 40, list(range(30)))) == list(range(30))
    assert all(abs(number - place) <= 5 for place, number in enumerate(begun))


def test_an_error_comes_in_its_place(results: Callable[..., Iterator[Any]]) -> None:
    def work(_: None, number: int) -> int:
        if number == 3:
            raise UsageError("no")
        return number

    found = results(work, 50)
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(UsageError, match="no"):
        next(found)


class Cluster(Executor):
    """One that may not say how many workers it has; each task is finished when the test says so."""

    def __init__(self, workers: int | None = None) -> None:
        self._max_workers = workers
        self.waiting: list[tuple[Future[Any], list[Outcome]]] = []

    @property
    def pieces(self) -> list[list[int]]:
        """Return the results of the pieces that wait, task by task."""
        return [[one.value() for one in outcomes] for _, outcomes in self.waiting]

    def submit(self, function: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
        made: Future[Any] = Future()
        self.waiting.append((made, function(*arguments)))
        return made

    def wait_for(self, count: int) -> None:
        """Wait until so many pieces have been handed out."""
        until = time.monotonic() + PATIENCE
        while len(self.waiting) < count and time.monotonic() < until:
            time.sleep(0.01)

    def finish(self, count: int) -> None:
        some, self.waiting = self.waiting[:count], self.waiting[count:]
        for future, value in some:
            future.set_result(value)


@pytest.mark.parametrize(("size", "handed_out"), [(0, 198), (1 << 20, 198), (128 << 20, 16), (256 << 20, 14)])
def test_an_executor_that_does_not_say_how_many_work_gets_many_pieces_if_they_give_little(
    size: int, handed_out: int
) -> None:
    cluster = Cluster()
    workers = TraceWorkers(call, 2, cluster)
    each = [(number,) for number in range(200)]
    found = workers.results(TraceWork(itself, size=lambda _: size), each, lambda _: LIMITS, Progress(None))
    at_first: list[int] = []

    def finish_one() -> None:
        cluster.wait_for(16)
        at_first.append(len(cluster.waiting))
        cluster.finish(1)

    threading.Timer(0.1, finish_one).start()
    assert next(found) == 0
    assert at_first == [16]
    cluster.finish(1)
    assert next(found) == 1
    assert len(cluster.waiting) == handed_out
    found.close()


@pytest.mark.parametrize(
    ("error", "told"), [(OSError("no\nworker"), "OSError: no worker"), (KeyError(), "KeyError: it")]
)
def test_an_error_of_the_executor_is_told_as_one(error: Exception, told: str) -> None:
    class Lost(Executor):
        def submit(self, _function: Callable[..., Any], /, *_arguments: Any, **_: Any) -> Future[Any]:
            made: Future[Any] = Future()
            made.set_exception(error)
            return made

    workers = TraceWorkers(lambda *_: None, 2, Lost())
    with pytest.raises(TraceError, match=f"the executor failed with {told}") as caught:
        next(workers.results(ITSELF, [(1,)], lambda _: LIMITS, Progress(None)))
    assert "workers need the same version of dctv" in str(caught.value.hint)


def shared(cluster: Cluster, own: Callable[[int], int], size: int = 0) -> Iterator[int]:
    """Yield the results of 50 pieces, of which a worker of the cluster does some, and the reader others."""
    pieces = [(number,) for number in range(50)]
    given = Dispatcher(
        lambda some: cluster.submit(done_together, None, itself, some), pieces, [1] * 50, 1, lambda _: size, own
    )
    while given.more():
        yield given.taken(Progress(None))


def test_the_reader_does_pieces_that_no_worker_has() -> None:
    cluster = Cluster()
    done: list[int] = []

    def own(number: int) -> int:
        done.append(number)
        if number == 49:
            cluster.finish(2)
        return number

    assert list(shared(cluster, own)) == list(range(50))
    assert done == list(range(2, 50))


def test_the_last_piece_does_not_wait_for_a_busy_worker() -> None:
    cluster = Cluster()
    done: list[int] = []

    def own(number: int) -> int:
        done.append(number)
        if number >= 48:
            cluster.finish(1)
        return number

    assert list(shared(cluster, own)) == list(range(50))
    assert done == list(range(2, 50))


def test_a_worker_gets_more_while_the_reader_is_busy() -> None:
    cluster = Cluster()
    waiting: list[list[list[int]]] = []

    def own(number: int) -> int:
        cluster.finish(1)
        waiting.append(cluster.pieces)
        return number

    assert next(shared(cluster, own)) == 0
    assert waiting == [[[1], [3, 4, 5, 6, 7]]]


def test_an_executor_that_fails_while_the_reader_is_busy() -> None:
    class Broken(Cluster):
        """One that takes two tasks."""

        taken = 0

        def submit(self, function: Callable[..., Any], /, *arguments: Any, **_: Any) -> Future[Any]:
            self.taken += 1
            if self.taken > 2:
                raise BrokenExecutor("gone")
            return super().submit(function, *arguments)

    cluster = Broken()

    def own(number: int) -> int:
        if number == 2:
            cluster.finish(2)
        return number

    found = shared(cluster, own)
    assert [next(found) for _ in range(3)] == [0, 1, 2]
    with pytest.raises(BrokenExecutor, match="gone"):
        next(found)


def test_nothing_is_handed_out_once_reading_has_ended() -> None:
    cluster = Cluster()
    pieces = [(number,) for number in range(50)]
    given = Dispatcher(
        lambda some: cluster.submit(done_together, None, itself, some), pieces, [1] * 50, 1, lambda _: 0, abs
    )
    assert given.more()
    (running, outcome), _ = cluster.waiting
    running.set_running_or_notify_cancel()
    given.cancel()
    running.set_result(outcome)
    assert len(cluster.waiting) == 2


def test_an_error_of_a_piece_done_here_comes_in_its_place() -> None:
    cluster = Cluster()

    def own(number: int) -> int:
        if number == 49:
            cluster.finish(2)
        if number == 7:
            raise UsageError("no")
        return number

    found = shared(cluster, own)
    assert [next(found) for _ in range(7)] == list(range(7))
    with pytest.raises(UsageError, match="no"):
        next(found)


def test_an_interrupt_ends_a_piece_done_here_at_once() -> None:
    def own(_: int) -> int:
        raise Interrupted("stopped")

    with pytest.raises(Interrupted):
        next(shared(Cluster(), own))


def test_results_of_pieces_done_here_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dctv.run.dispatching._HELD", 100)
    cluster = Cluster()
    done: list[int] = []

    def own(number: int) -> int:
        done.append(number)
        return number

    found = shared(cluster, own, 40)
    threading.Timer(0.1, lambda: cluster.finish(2)).start()
    assert next(found) == 0
    # Three results of 40 bytes are too many: then it waits for the worker.
    assert done == [2, 3, 4]


def test_a_larger_pool_replaces_one_that_is_not_in_use(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("dctv.run.processes.started", ThreadPoolExecutor)
    workers = TraceWorkers(call, 2)
    each = [(number,) for number in range(50)]
    light, heavy = TraceWork(itself, lambda number: number), TraceWork(itself)
    first = workers.results(light, each, lambda _: LIMITS, Progress(None), [1] * 50)
    assert next(first) == 0
    assert list(workers.results(heavy, each, lambda _: LIMITS, Progress(None))) == list(range(50))
    assert workers.pooled == 1
    assert list(first) == list(range(1, 50))
    assert list(workers.results(heavy, each, lambda _: LIMITS, Progress(None))) == list(range(50))
    assert workers.pooled == 2
    workers.close()
