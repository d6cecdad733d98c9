"""``java.util.PriorityQueue``: a binary heap, whose order among equals follows from how it was filled and emptied.

Python's ``heapq`` moves elements otherwise: of equals, it gives another one first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Generic, TypeVar

Element = TypeVar("Element")


class PriorityQueue(Generic[Element]):
    """A queue that gives the least element first, by a key that must not change while the element is in it.

    >>> queue = PriorityQueue([2, 1, -2, -1], key=abs)
    >>> [queue.poll() for _ in range(5)]
    [1, -1, -2, 2, None]
    """

    def __init__(self, elements: Iterable[Element], key: Callable[[Element], float]) -> None:
        """Put the elements in, one after the other (``addAll``)."""
        self._key = key
        self._heap: list[Element] = []
        for element in elements:
            self.add(element)

    def __len__(self) -> int:
        """How many elements are in it."""
        return len(self._heap)

    def add(self, element: Element) -> None:
        """Put an element in: up from the last place, past every parent that is greater (``siftUp``)."""
        heap, key = self._heap, self._key(element)
        heap.append(element)
        place = len(heap) - 1
        while place > 0:
            parent = (place - 1) // 2
            if self._key(heap[parent]) <= key:
                break
            heap[place] = heap[parent]
            place = parent
        heap[place] = element

    def poll(self) -> Element | None:
        """Take the least element out (None: there is none); the last one goes down from its place (``siftDown``)."""
        heap = self._heap
        if not heap:
            return None
        least, last = heap[0], heap.pop()
        if heap:
            self._sift_down(last)
        return least

    def _sift_down(self, element: Element) -> None:
        heap, key, size = self._heap, self._key(element), len(self._heap)
        place = 0
        while place < size // 2:
            child = 2 * place + 1
            right = child + 1
            if right < size and self._key(heap[child]) > self._key(heap[right]):
                child = right
            if key <= self._key(heap[child]):
                break
            heap[place] = heap[child]
            place = child
        heap[place] = element
