"""Checklists: texts mapped to a rubric item by item, judged against the reference's, scored with CLEAR."""
