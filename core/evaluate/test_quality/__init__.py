"""Does the test set cover the feature space? (Mani et al. 2019, section 4.2)

`measure_quality(train, test, ...)` measures four dimensions in a layer of a model, beside the training set and random
splits; `centroid_curve(...)` and `boundary_curve(...)` show what rests on a threshold; `map_pair(...)` lays out two
classes; `quality_verdict(...)` and `findings(...)` say it in sentences.
"""
