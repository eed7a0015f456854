"""What was handed in, taken without trusting anything in it: files, written answers, functions."""
