-- Slices of threads, with the lines of their begin and end events.
-- formats: *
SELECT * FROM dctv.nested_slices(
  begins=>_parts.slice_begins, ends=>_parts.slice_ends, completes=>_parts.slice_completes, end_order=>'end_line')
