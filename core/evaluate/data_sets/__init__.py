"""What is in the data? Sizes, numbers, words, columns and copies: notebook 1 of Wecker et al. (2020), and more."""

from touchstone.core.evaluate.data_sets.summaries import (
    ColumnSummaries,
    ColumnSummary,
    ExactCopies,
    Histogram,
    LabelCount,
    LabelCounts,
    NearCopies,
    NumberByClass,
    NumberSummary,
    SharesByNumber,
    column_summaries,
    histogram,
    label_counts,
    mean_images,
    near_copies,
    number_by_class,
    summarise,
)
from touchstone.core.evaluate.data_sets.verdict import Word, WordCounts, count_words, data_verdict, english_stop_words
