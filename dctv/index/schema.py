"""The tables of an index file, as SQL for SQLite."""

FORMAT_VERSION = 9
"""Increased with every change that older versions would misread, and when decoders return other values for a trace.

An index with another version is rebuilt.
"""

APPLICATION = 0x64637476
"""The application number in the header of an index file: `dctv`."""

PAGE_BYTES = 4096

HEADER = f"""
PRAGMA page_size = {PAGE_BYTES};
PRAGMA application_id = {APPLICATION};
PRAGMA user_version = {FORMAT_VERSION};
"""

# Tables with blobs have row ids: tables without store at most a quarter of a page in place.
TABLES = """
CREATE TABLE about(key TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE files(
    id INTEGER PRIMARY KEY, logical_name TEXT UNIQUE NOT NULL, byte_size INTEGER NOT NULL,
    mtime_unix INTEGER NOT NULL, mtime_ns INTEGER NOT NULL, hash INTEGER NOT NULL);
CREATE TABLE checkpoints(
    file_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    checkpoint_idx INTEGER NOT NULL, uc_offset INTEGER NOT NULL, uc_size INTEGER NOT NULL,
    c_offset INTEGER NOT NULL, c_size INTEGER NOT NULL, bits INTEGER NOT NULL, dict_compressed BLOB,
    skip INTEGER NOT NULL, packed INTEGER NOT NULL,
    num_lines INTEGER NOT NULL, first_line_num INTEGER NOT NULL DEFAULT 0, last_line_num INTEGER NOT NULL DEFAULT 0,
    PRIMARY KEY(file_id, checkpoint_idx));
CREATE TABLE metadata(
    file_id INTEGER PRIMARY KEY REFERENCES files(id) ON DELETE CASCADE,
    checkpoint_size INTEGER NOT NULL, total_lines INTEGER NOT NULL, total_uc_size INTEGER NOT NULL);
CREATE TABLE chunk_bloom_filters(
    file_info_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    checkpoint_idx INTEGER NOT NULL, dimension TEXT NOT NULL, bloom_data BLOB NOT NULL, num_entries INTEGER NOT NULL,
    UNIQUE(dimension, file_info_id, checkpoint_idx));
CREATE TABLE file_bloom_filters(
    file_info_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    dimension TEXT NOT NULL, bloom_data BLOB NOT NULL, num_entries INTEGER NOT NULL,
    UNIQUE(dimension, file_info_id));
CREATE TABLE chunk_statistics(
    file_info_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    checkpoint_idx INTEGER NOT NULL, total_events INTEGER NOT NULL,
    min_timestamp_ns INTEGER, max_timestamp_ns INTEGER, max_end_ns INTEGER,
    duration_sum_ns TEXT NOT NULL, duration_min_ns INTEGER, duration_max_ns INTEGER,
    duration_count INTEGER NOT NULL, duration_mean REAL NOT NULL, duration_m2 REAL NOT NULL,
    duration_sketch BLOB, duration_histogram TEXT NOT NULL,
    name_duration_sketches BLOB, name_duration_histograms TEXT NOT NULL, name_duration_sums TEXT NOT NULL,
    name_duration_sum_sqs TEXT NOT NULL, name_duration_counts TEXT NOT NULL, name_duration_ranges TEXT NOT NULL,
    name_category TEXT NOT NULL,
    min_timestamp_us INTEGER GENERATED ALWAYS AS (min_timestamp_ns / 1000) VIRTUAL,
    max_timestamp_us INTEGER GENERATED ALWAYS AS (max_timestamp_ns / 1000) VIRTUAL,
    PRIMARY KEY(file_info_id, checkpoint_idx));
CREATE TABLE chunk_dimension_stats(
    file_info_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    checkpoint_idx INTEGER NOT NULL, dimension TEXT NOT NULL, distinct_count INTEGER NOT NULL,
    null_count INTEGER NOT NULL, min_value TEXT, max_value TEXT, value_type TEXT NOT NULL, value_counts BLOB,
    UNIQUE(dimension, file_info_id, checkpoint_idx));
CREATE TABLE index_dimensions(
    file_info_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    dimension TEXT NOT NULL, PRIMARY KEY(dimension, file_info_id)) WITHOUT ROWID;
CREATE TABLE hash_resolutions(
    file_info_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    dimension TEXT NOT NULL, hash_value TEXT NOT NULL, resolved_value TEXT NOT NULL,
    PRIMARY KEY(dimension, resolved_value, hash_value, file_info_id)) WITHOUT ROWID;
CREATE TABLE checkpoint_event_ranges(
    checkpoint_idx INTEGER NOT NULL, file_info_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    cat TEXT NOT NULL, name TEXT NOT NULL, line_numbers BLOB NOT NULL, event_count INTEGER NOT NULL,
    UNIQUE(file_info_id, checkpoint_idx, cat, name));
CREATE TABLE checkpoint_metadata_lines(
    checkpoint_idx INTEGER NOT NULL, file_info_id INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
    meta_type TEXT NOT NULL, line_numbers BLOB NOT NULL,
    UNIQUE(file_info_id, checkpoint_idx, meta_type));
CREATE TABLE store_tables(
    name TEXT PRIMARY KEY, position INTEGER NOT NULL, file TEXT NOT NULL, rows INTEGER NOT NULL, bytes INTEGER NOT NULL,
    checksum INTEGER NOT NULL, stamp TEXT NOT NULL, columns TEXT NOT NULL) WITHOUT ROWID;
"""
