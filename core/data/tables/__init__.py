"""What stands in a file that somebody else wrote? Read as columns that know their lines, whatever the format was."""

from touchstone.core.data.tables.table import Table, make_table
