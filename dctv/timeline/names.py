"""Number the names of rows batch by batch, and collect all names."""

from __future__ import annotations

from typing import Any

_FEW = 1 << 16


class Names:
    """Numbers of names; duplicates are resolved at the end."""

    def __init__(self) -> None:
        import numpy as np
        import pyarrow as pa

        self._known = pa.array([], pa.string())
        self._codes = np.zeros(0, np.int32)
        """The index among the known names, by number."""
        self._waiting: list[Any] = []
        self._count = 0
        """How many names are pending."""

    def add(self, names: Any) -> Any:
        """Return a number for each pyarrow string, -1 for NULL: numpy int64."""
        import numpy as np

        found = names.dictionary_encode()
        if self._count > max(_FEW, len(self._known)):
            self._merge()
        codes = found.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int64)
        numbers = np.where(codes < 0, -1, codes + (len(self._codes) + self._count))
        self._waiting.append(found.dictionary)
        self._count += len(found.dictionary)
        return numbers

    def all(self) -> tuple[Any, Any]:
        """Return the distinct names as pyarrow strings, and the index of each number's name: numpy int32."""
        self._merge()
        return self._known, self._codes

    def _merge(self) -> None:
        import numpy as np
        import pyarrow as pa

        parts = [self._known, *self._waiting]
        every = [pa.DictionaryArray.from_arrays(pa.array(np.arange(len(one), dtype=np.int32)), one) for one in parts]
        merged = pa.chunked_array(every).unify_dictionaries().chunks
        before, *after = [chunk.indices.to_numpy() for chunk in merged]
        self._codes = np.concatenate([before[self._codes], *after])
        self._known = merged[0].dictionary
        self._waiting, self._count = [], 0
