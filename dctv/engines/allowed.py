"""Engine functions that statements may call: those that depend only on their arguments, a clock or a random number."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

from dctv.errors import UsageError

AllowedFiles = bool | Sequence[str | Path]

# Left out are functions that read or change the session, the catalog or settings (`current_setting`, `nextval`,
# `write_log`), run text (`query`, `json_execute_serialized_sql`), wait (`sleep_ms`), accept values that only the engine
# may make (`to_aggregate_state`), expose storage (`stats`), or implement collations, which COLLATE names. A function of
# a later engine cannot be called until it is listed here: tests/session/test_what_sql_may_reach.py tries every function
# of the installed one.

_SCALARS = """
abs acos acosh add age aggregate ago apply array_aggr array_aggregate array_append array_apply array_cat
array_concat array_contains array_cosine_distance array_cosine_similarity array_cross_product array_distance
array_distinct array_dot_product array_extract array_filter array_grade_up array_has array_has_all array_has_any
array_indexof array_inner_product array_intersect array_length array_negative_dot_product
array_negative_inner_product array_pop_back array_pop_front array_position array_prepend array_push_back
array_push_front array_reduce array_resize array_reverse array_reverse_sort array_select array_slice array_sort
array_to_json array_to_string array_to_string_comma_default array_transform array_unique array_value array_where
array_zip ascii asin asinh assert_true atan atan2 atanh bar base64 bin binom bit_count bit_length bit_position
bitstring cardinality cbrt ceil ceiling century char_length character_length chr combine concat concat_ws contains cos
cosh cot current_date current_localtime current_localtimestamp damerau_levenshtein date_add date_diff date_part
date_sub date_trunc datediff datepart datesub datetrunc day dayname dayofmonth dayofweek dayofyear days_in_month
decade decode degrees divide editdist3 element_at encode ends_with epoch epoch_ms epoch_ns epoch_us
equi_width_bins era error even exp factorial fdiv filter finalize flatten floor fmod format format_bytes
formatreadabledecimalsize formatreadablesize from_base64 from_binary from_hex from_json from_json_strict gamma
gcd gen_random_uuid generate_series geomean geometric_mean get_bit get_current_time get_current_timestamp
grade_up greatest greatest_common_divisor hamming hash hex hour if instr isfinite isinf isnan isodow isoyear
jaccard jaro_similarity jaro_winkler_similarity json json_array json_array_length json_contains json_deep_merge
json_exists json_extract json_extract_path json_extract_path_text json_extract_string json_group_array
json_group_object json_insert json_keys json_merge_patch json_merge_patch_diff json_normalize json_object
json_pretty json_quote json_remove json_replace json_set json_strip_nulls json_structure json_transform
json_transform_strict json_type json_valid json_value julian last_day lcase lcm least least_common_multiple left
left_grapheme len length length_grapheme levenshtein lgamma list_aggr list_aggregate list_any_value list_append
list_apply list_approx_count_distinct list_avg list_bit_and list_bit_or list_bit_xor list_bool_and list_bool_or
list_cat list_concat list_contains list_cosine_distance list_cosine_similarity list_count list_distance
list_distinct list_dot_product list_element list_entropy list_extract list_filter list_first list_grade_up
list_has list_has_all list_has_any list_histogram list_indexof list_inner_product list_intersect list_kurtosis
list_kurtosis_pop list_last list_mad list_max list_median list_min list_mode list_negative_dot_product
list_negative_inner_product list_pack list_position list_prepend list_product list_reduce list_resize
list_reverse list_reverse_sort list_select list_sem list_skewness list_slice list_sort list_stddev_pop
list_stddev_samp list_string_agg list_sum list_transform list_unique list_value list_var_pop list_var_samp
list_where list_zip ln log log10 log2 lower lpad ltrim make_date make_time make_timestamp make_timestamp_ms
make_timestamp_ns make_timestamptz map map_concat map_contains map_contains_entry map_contains_value map_entries
map_extract map_extract_value map_from_entries map_keys map_values md5 md5_number md5_number_lower
md5_number_upper microsecond millennium millisecond minute mismatches mod month monthname multiply nanosecond
nextafter nfc_normalize now nullif octet_length ord overlay parse_dirname parse_dirpath parse_filename
parse_formatted_bytes parse_path path_join pi position pow power prefix printf quarter radians random range
reduce regexp_escape regexp_extract regexp_extract_all regexp_full_match regexp_matches regexp_replace
regexp_split_to_array repeat replace reverse right right_grapheme round round_even roundbankers row row_to_json
rpad rtrim second set_bit setseed sha1 sha256 sign signbit sin sinh split split_part sqrt starts_with str_split
str_split_regex strftime string_split string_split_regex string_to_array strip_accents strlen strpos strptime
struct_concat struct_contains struct_extract struct_extract_at struct_has struct_indexof struct_insert
struct_keys struct_pack struct_position struct_update struct_values substr substring substring_grapheme subtract
suffix switch tan tanh time_bucket timezone timezone_hour timezone_minute to_base to_base64 to_binary
to_centuries to_days to_decades to_hex to_hours to_json to_microseconds to_millennia to_milliseconds to_minutes
to_months to_quarters to_seconds to_timestamp to_weeks to_years today transaction_timestamp translate trim trunc
try_strptime typeof ucase unbin unhex unicode upper url_decode url_encode uuid uuid_extract_timestamp
uuid_extract_version uuidv4 uuidv7 wavg week weekday weekofyear weighted_avg xor year yearweek
constant_or_null create_sort_key enum_code enum_first enum_last enum_range enum_range_boundary
normalized_interval remap_struct st_asbinary
st_asgeojson st_astext st_aswkb st_aswkt st_geomfromgeojson st_geomfromwkb vertex_extract
can_cast_implicitly decimal_division is_histogram_other_bin replace_type st_intersects_extent try union_extract
union_tag union_value variant_array_length variant_contains variant_exists variant_extract variant_extract_string
variant_keys variant_normalize variant_type variant_typeof
"""

_AGGREGATES = """
any_value approx_count_distinct approx_quantile approx_top_k arbitrary arg_max arg_max_null arg_max_nulls_last
arg_min arg_min_null arg_min_nulls_last argmax argmin array_agg avg bit_and bit_or bit_xor bitstring_agg
bool_and bool_or combine_aggr corr count count_if countif covar_pop covar_samp entropy favg first fsum group_concat
histogram kahan_sum kurtosis kurtosis_pop last list listagg lttb mad max max_by mean median min min_by mode product
quantile quantile_cont quantile_disc regr_avgx regr_avgy regr_count regr_intercept regr_r2 regr_slope regr_sxx
regr_sxy regr_syy reservoir_quantile sem skewness stddev stddev_pop stddev_samp string_agg sum sum_no_overflow
sumkahan var_pop var_samp variance grouping grouping_id histogram_exact
json_group_structure variant_group_array variant_group_object
"""

_WINDOWS = """
cume_dist dense_rank fill first_value lag last_value lead nth_value ntile percent_rank rank rank_dense
row_number
"""

SYNTAX = frozenset(("grouping", "grouping_id", "try"))
"""Functions that the engine's parser knows, but not its catalog."""

KINDS: Mapping[str, str] = {
    **dict.fromkeys(_SCALARS.split(), "scalar"),
    **dict.fromkeys(_AGGREGATES.split(), "aggregate"),
    **dict.fromkeys(_WINDOWS.split(), "window"),
}
"""Scalar, aggregate and window functions by lower-case name, with their kind."""

TABLES = frozenset(("generate_series", "json_each", "json_tree", "range", "repeat", "unnest"))
"""Functions that may be called in FROM."""

_OF_FILES = """
glob parquet_bloom_probe parquet_file_metadata parquet_full_metadata parquet_kv_metadata parquet_metadata parquet_scan
parquet_schema read_blob read_csv read_csv_auto read_json read_json_auto read_json_objects read_json_objects_auto
read_ndjson read_ndjson_auto read_ndjson_objects read_parquet read_text sniff_csv
"""

OF_FILES = frozenset(_OF_FILES.split())
"""Functions that may be called in FROM where a session allows files."""

ALLOWING = "MOUNT TRACE reads files; --allow-files, or Session(allow_files=True), lets queries name them too"
"""The hint for statements that read files."""


COPYING = "-o writes results; --allow-files, or Session(allow_files=True), lets COPY write files too"
"""The hint for statements that write files."""


def named_files(files: AllowedFiles) -> list[Path]:
    """Return the files and folders that queries may name."""
    if isinstance(files, bool):
        return [Path(Path.cwd().anchor)] if files else []
    if isinstance(files, str):
        raise UsageError(f"found the text `{files}`, expected `allow_files` to be True or a list of paths")
    return [Path(one) for one in files]
