"""The only place besides the pages that knows Streamlit: what all pages share."""
