"""Letting a local model propose steps and dependencies, and measuring how well it understands tasks.

Methods after TaskLAMA (Yuan et al., 2023). Soft-prompt tuning would be a further entry of
`core.graphs.generation.steps.STEP_METHODS`: it needs a generator that takes learned vectors, which the
port does not offer.
"""
