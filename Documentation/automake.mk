# SPDX-License-Identifier: Apache-2.0
#
# make docs       the documentation as HTML in Documentation/html of the build
#                 directory; a warning of Sphinx is an error
# make man-pages  the manual pages, in Documentation/man; "make install" tries,
#                 and goes on without them

doc_sources = \
	Documentation/conf.py \
	Documentation/index.rst \
	Documentation/intro/install.rst \
	Documentation/intro/quickstart.rst \
	Documentation/ref/commands.rst \
	Documentation/ref/configuration.rst \
	Documentation/ref/counters.rst \
	Documentation/ref/ovs-udp-load.8.rst \
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

# Sphinx makes them, or else docutils, which has to be told the first line and
# the name.  Without both there are none, and a message.
man8_pages = ovs-udp-load
RST2MAN = rst2man
man-pages:
	$(AM_V_at)$(MKDIR_P) Documentation/man
	$(AM_V_GEN)if $(SPHINXBUILD) --version >/dev/null 2>&1; then \
	  $(SPHINXBUILD) -q -b man -d Documentation/doctrees-man \
	    $(srcdir)/Documentation Documentation/man; \
	elif $(RST2MAN) --version >/dev/null 2>&1; then \
	  for page in $(man8_pages); do \
	    about=`sed -n "/'$$page',$$/{n;s/^ *'\(.*\)', author.*/\1/p}" \
	      $(srcdir)/Documentation/conf.py`; \
	    $(RST2MAN) --strict $(srcdir)/Documentation/ref/$$page.8.rst | \
	      sed -e 's/^\.TH .*/.TH "'$$page'" "8" "" "$(VERSION)" "Weft"/' \
	        -e "s/^$$page "'\\- *$$'"/$$page "'\\'"- $$about/" \
	      > Documentation/man/$$page.8 || exit 1; \
	  done; \
	else \
	  rm -f Documentation/man/*.8; \
	  echo "The manual pages are left out: they need sphinx-build or rst2man" \
	    "(Debian packages: python3-sphinx or python3-docutils)"; \
	fi

install-data-local: install-man-pages
install-man-pages: man-pages
	$(AM_V_at)for page in $(man8_pages); do \
	  test -f Documentation/man/$$page.8 || continue; \
	  $(MKDIR_P) '$(DESTDIR)$(mandir)/man8' && \
	  $(INSTALL_DATA) Documentation/man/$$page.8 \
	    '$(DESTDIR)$(mandir)/man8' || exit 1; \
	done
uninstall-local: uninstall-man-pages
uninstall-man-pages:
	for page in $(man8_pages); do \
	  rm -f '$(DESTDIR)$(mandir)/man8'/$$page.8; \
	done

clean-local: clean-docs
clean-docs:
	rm -rf Documentation/doctrees Documentation/doctrees-man \
	  Documentation/html Documentation/man

.PHONY: docs man-pages install-man-pages uninstall-man-pages clean-docs
