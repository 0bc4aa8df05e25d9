"""What has every page: navigation, sessions, sharing, running work, and what a page is made of."""
