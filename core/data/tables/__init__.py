"""What stands in a file that somebody else wrote? Read as columns that know their lines, whatever the format was."""
