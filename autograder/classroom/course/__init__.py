"""What a course makes of the lessons: `course.toml`, the class, variants, and its notebooks."""
