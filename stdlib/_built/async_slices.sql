-- Async slices, with the lines of their begin and end events.
-- formats: *
SELECT * FROM dctv.nested_slices(
  begins=>_parts.async_begins, ends=>_parts.async_ends, completes=>_parts.async_completes, end_order=>'end_line')
