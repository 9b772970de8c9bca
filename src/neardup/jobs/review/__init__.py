"""``review``: a page on which pairs are judged, and the files of several reviewers put together."""
