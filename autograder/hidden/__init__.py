"""What students must never see: the hidden suites, and right and wrong answers to the exercises.

No room imports from here: `grading` has pytest run the suites, and parses the answers.
"""
