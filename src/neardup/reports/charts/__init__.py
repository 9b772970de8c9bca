"""Charts as SVG within a page: drawn here, because a page must be small, and the same each time.

Libraries that draw charts bring scripts or fonts of hundreds of kilobytes, set colours where a page
that is light, dark or printed needs variables, or number their elements by chance.
"""
