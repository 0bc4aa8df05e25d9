"""Tables 1, 2 and 3 of Kilinc & Uysal (2017), as printed: accuracies in percent, rho to three decimals."""

MODELS = {
    # model: {clustering: (E[AccX], E[AccI], rho)}
    "SVM": {"ACOL": (84.44, 97.42, 0.867), "k-means": (80.28, 97.50, 0.823)},
    "MLP": {"ACOL": (90.14, 98.57, 0.915), "k-means": (87.92, 98.64, 0.891)},
    "CNN-1": {"ACOL": (94.87, 99.30, 0.955), "k-means": (94.09, 99.29, 0.948)},
    "CNN-2": {"ACOL": (97.39, 99.51, 0.979), "k-means": (97.07, 99.51, 0.975)},
    "CNN-3": {"ACOL": (98.05, 99.55, 0.985), "k-means": (98.01, 99.55, 0.984)},
}
"""Table 1: all models, with the sources that either clustering found."""

CNNS = ("CNN-1", "CNN-2", "CNN-3")
INTERVALS = {
    # training samples: (E[AccX], E[AccI]) of each CNN
    "100": ((69.50, 81.34), (74.85, 86.18), (75.89, 86.07)),
    "300": ((76.94, 88.42), (84.25, 93.17), (86.77, 93.27)),
    "1K": ((82.78, 93.97), (90.03, 96.37), (91.00, 96.54)),
    "3K": ((87.99, 97.04), (92.71, 98.06), (94.08, 98.20)),
    "10K": ((91.72, 98.49), (94.63, 98.97), (95.84, 99.07)),
    "30K": ((94.07, 99.14), (96.38, 99.38), (97.60, 99.44)),
    "56K": ((94.87, 99.30), (97.39, 99.51), (98.05, 99.55)),
}
"""Table 2: expected accuracy intervals by training-set size, with ACOL's sources."""

RHO = {
    "100": (0.854, 0.869, 0.882),
    "300": (0.870, 0.904, 0.930),
    "1K": (0.881, 0.934, 0.943),
    "3K": (0.907, 0.945, 0.958),
    "10K": (0.931, 0.956, 0.967),
    "30K": (0.949, 0.970, 0.981),
    "56K": (0.955, 0.979, 0.985),
}
"""Table 3: rho of the same experiments."""
