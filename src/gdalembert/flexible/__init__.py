"""Flexible links and joints by assumed modes: Book 1984; Cetinkunt and Book 1988, corrected and generalised."""
