def walk(key, log_density, steps):
    """The places of a walk of so many steps, which begins at 0."""

    def step(state, _):
        key, x = state
        key, own, coin = random.split(key, 3)
        proposal = x + 2.0 * random.normal(own)
        accept = jnp.log(random.uniform(coin)) < log_density(proposal) - log_density(x)
        x = jnp.where(accept, proposal, x)
        return (key, x), x

    return lax.scan(step, (key, 0.0), None, length=steps)[1]
