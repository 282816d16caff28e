"""Names of rows, batch by batch -> numbers, and all names by number."""

from __future__ import annotations

from typing import Any

_FEW = 1 << 16


class Names:
    """Gives names numbers; which of them are the same is known at the end."""

    def __init__(self) -> None:
        import numpy as np
        import pyarrow as pa

        self._known = pa.array([], pa.string())
        self._codes = np.zeros(0, np.int32)
        """Of each number the name's place among the known."""
        self._waiting: list[Any] = []
        self._count = 0
        """How many wait."""

    def add(self, names: Any) -> Any:
        """Return a number for each of some pyarrow strings, -1 for NULL: numpy int64."""
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
        """Return all names, each once, as pyarrow strings, and of each number its name's place: numpy int32."""
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
