def drain(k, height, steps):
    """The height at the end, and how much water has left the tank."""

    def step(state, _):
        height, left = state
        full = jnp.where(height > 0.0, height, 1.0)  # a root has a derivative there
        flow = jnp.where(height > 0.0, outflow(k, full), 0.0)
        return (height - flow, left + flow), flow

    (height, left), _ = lax.scan(step, (height, 0.0), None, length=steps)
    return height, left
