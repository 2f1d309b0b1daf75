# SPDX-License-Identifier: Apache-2.0
#
# Sphinx configuration; "make docs" uses it.

import pathlib
import re

source = pathlib.Path(__file__).resolve().parent.parent

project = 'Weft'
copyright = 'the Weft developers'
author = 'the Weft developers'
# configure.ac is the one place that has the version.
release = re.search(r'AC_INIT\(\[weft\], \[([^]]+)\]\)',
                    (source / 'configure.ac').read_text()).group(1)
version = release

extensions = []
source_suffix = '.rst'
master_doc = 'index'
exclude_patterns = []
highlight_language = 'none'

try:
    import sphinx_rtd_theme  # noqa: F401
    extensions.append('sphinx_rtd_theme')
    html_theme = 'sphinx_rtd_theme'
except ImportError:
    html_theme = 'alabaster'

# Each page shows its source; without a timestamp, builds are reproducible.
html_show_sphinx = False
html_copy_source = False
html_show_sourcelink = False
smartquotes = False

man_pages = [
    ('ref/ovs-udp-load.8', 'ovs-udp-load',
     'UDP source and sink to measure a switch', author, 8),
]
