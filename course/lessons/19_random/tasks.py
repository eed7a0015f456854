"""Checks of what lies beyond the exercises: `./jaxprentice check random.open` and `.repair`."""

import numpy as np
import pytest
from checking import exercise, yours

import minijax.numpy as jnp
from minijax import jit, random, vmap


def deck(key, bits, count=None):
    """The first cards of a deck, or all of them."""
    places = jnp.arange(2**bits if count is None else count)
    return np.asarray(vmap(lambda i: card(key, bits, i))(places))


exercise("random.open")

card = yours("open_random.card")


@pytest.mark.parametrize("bits", [2, 4, 8, 12])
def test_every_card_once(bits):
    """Sorted, the deck is the numbers from 0."""
    for seed in (0, 1):
        assert sorted(deck(random.key(seed), bits).tolist()) == [*range(2**bits)]


def test_decks_are_shuffled():
    """Two keys have two decks, and neither of them is in order or nearly so."""
    decks = [deck(random.key(seed), 10) for seed in range(3)] + [np.arange(2**10)]
    for i, one in enumerate(decks):
        for other in decks[:i]:
            assert np.mean(one == other) < 0.02
            assert abs(np.corrcoef(one, other)[0, 1]) < 0.15


def test_huge_decks():
    """A few cards of a huge deck are different, and spread over all of it."""
    cards = deck(random.key(3), 60, 1000)
    assert len(set(cards.tolist())) == 1000
    assert 0 <= cards.min() < 2**55
    assert 2**60 - 2**55 < cards.max() < 2**60
    assert abs(np.mean(cards / 2.0**60) - 0.5) < 0.05


def test_same_card_again():
    """A card is the same alone, inside `jit` and among others, for keys of both kinds."""
    for key in (random.key(5), random.PRNGKey(5)):
        one = int(card(key, 20, 77))
        assert int(jit(lambda k, i: card(k, 20, i))(key, 77)) == one
        assert int(deck(key, 20, 100)[77]) == one


exercise("random.repair")

walk = yours("repair_random.walk")


def places(log_density):
    """Where 200 walks are, without their beginnings."""
    keys = random.split(random.key(11), 200)
    walks = jit(vmap(lambda key: walk(key, log_density, 220)))(keys)
    return np.asarray(walks)[:, 20:].ravel()


def test_normal_distribution():
    """The places have mean 0 and variance 1, and half of them are below 0."""
    found = places(lambda x: -x * x / 2)
    assert abs(found.mean()) < 0.05
    assert abs(found.var() - 1) < 0.08
    assert abs(np.mean(found < 0) - 0.5) < 0.03


def test_double_exponential_distribution():
    """Another density is sampled as well: the mean of the sizes is 1."""
    found = places(lambda x: -abs(x))
    assert abs(np.mean(abs(found)) - 1) < 0.1
    assert abs(found.mean()) < 0.1


def test_walks_are_reproducible():
    """The same key walks the same way, step by step."""
    first, second = (walk(random.key(4), lambda x: -x * x, 10) for _ in range(2))
    assert np.asarray(first).tolist() == np.asarray(second).tolist()
