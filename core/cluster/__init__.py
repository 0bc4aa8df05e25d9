"""Sources found within classes (write a finder and add it to ``SOURCE_FINDERS``), and k-means under quotas."""
