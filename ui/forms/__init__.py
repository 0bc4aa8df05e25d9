"""What can be chosen, kept in the address."""
