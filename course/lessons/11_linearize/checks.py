"""Checks of the lesson linearize."""
