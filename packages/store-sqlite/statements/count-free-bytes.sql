-- This counts the bytes of the pages that the file has and does not use. A purge leaves such pages, and new rows take them.
SELECT freelist.freelist_count * page.page_size FROM pragma_freelist_count() AS freelist, pragma_page_size() AS page
