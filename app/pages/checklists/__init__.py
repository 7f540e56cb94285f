"""Checklists: texts mapped to rubrics, output beside reference, judges and how far they may be believed."""
