# SPDX-License-Identifier: Apache-2.0
#
# make docs  the documentation as HTML in Documentation/html of the build
#            directory; a warning of Sphinx is an error

doc_sources = \
	Documentation/conf.py \
	Documentation/index.rst \
	Documentation/intro/install.rst \
	Documentation/intro/quickstart.rst \
	Documentation/ref/commands.rst \
	Documentation/ref/configuration.rst \
	Documentation/ref/counters.rst \
	Documentation/internals/architecture.rst \
	Documentation/internals/bench-datapath.png \
	Documentation/internals/bench-latency.png \
	Documentation/internals/contributing.rst \
	Documentation/internals/performance.rst \
	Documentation/internals/testing.rst
EXTRA_DIST += $(doc_sources) README.rst NEWS NOTICE LICENSE

SPHINXBUILD = sphinx-build
SPHINXFLAGS = -q -W --keep-going

docs:
	$(AM_V_at)$(SPHINXBUILD) --version >/dev/null 2>&1 || { \
	  echo "make docs needs Sphinx and its rtd theme (Debian packages:" \
	    "python3-sphinx and python3-sphinx-rtd-theme)" >&2; exit 1; }
	$(AM_V_GEN)$(SPHINXBUILD) $(SPHINXFLAGS) -b html \
	  -d Documentation/doctrees $(srcdir)/Documentation Documentation/html

clean-local: clean-docs
clean-docs:
	rm -rf Documentation/doctrees Documentation/html

.PHONY: docs clean-docs
