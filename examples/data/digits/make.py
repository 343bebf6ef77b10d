#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
# Writes images.npy and labels.npy with the digits of scikit-learn (1.9 and others have the same): README.md says what they are.
import pathlib

import numpy as np
from sklearn.datasets import load_digits

HERE = pathlib.Path(__file__).resolve().parent
digits = load_digits()
np.save(HERE / "images.npy", digits.images.astype(np.uint8))
np.save(HERE / "labels.npy", digits.target.astype(np.uint8))
