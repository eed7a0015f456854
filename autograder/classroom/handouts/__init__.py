"""What students get, as archives; and the look that nothing hidden is in them."""
