def tripled(x):
    """Three times `x`."""
    return first(x) + x  # FILL IN: the same definition without the slip
