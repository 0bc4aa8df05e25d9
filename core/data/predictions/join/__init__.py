"""How do the truth in one file and the predictions in another become one table? Which row is which, is seen first."""
