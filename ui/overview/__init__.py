"""What only the overview shows: the sheet of answers, the questions asked at once, and where somebody begins."""
