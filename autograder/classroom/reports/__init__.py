"""What is made of grades: the report, exports, tables, and which submissions are similar."""
