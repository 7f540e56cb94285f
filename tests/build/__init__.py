"""Tests of set-up and packaging; the modules of ``build/`` are put on the path here, as its scripts do."""

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "build"))
