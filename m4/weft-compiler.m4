# SPDX-License-Identifier: Apache-2.0
#
# Warnings and sanitizers.

# WEFT_CHECK_WARNINGS
#
# Sets WARNING_CFLAGS, which only our own sources are compiled with.  Open
# vSwitch's headers compare signed with unsigned, and leave parameters unused.
AC_DEFUN([WEFT_CHECK_WARNINGS],
  [AC_ARG_ENABLE([Werror],
     [AS_HELP_STRING([--enable-Werror], [a warning in our sources is an error])],
     [], [enable_Werror=no])
   WARNING_CFLAGS="-Wall -Wextra -Wno-sign-compare -Wno-unused-parameter"
   AC_CACHE_CHECK([whether $CC checks lock annotations (-Wthread-safety)],
     [weft_cv_thread_safety],
     [weft_save_CFLAGS=$CFLAGS
      CFLAGS="$CFLAGS -Wthread-safety -Werror"
      AC_COMPILE_IFELSE([AC_LANG_PROGRAM([], [])],
        [weft_cv_thread_safety=yes], [weft_cv_thread_safety=no])
      CFLAGS=$weft_save_CFLAGS])
   AS_IF([test $weft_cv_thread_safety = yes],
     [WARNING_CFLAGS="$WARNING_CFLAGS -Wthread-safety"])
   AS_IF([test "$enable_Werror" = yes],
     [WARNING_CFLAGS="$WARNING_CFLAGS -Werror"])
   AC_SUBST([WARNING_CFLAGS])])

# WEFT_SANITIZERS
#
# Sets SANITIZE_CFLAGS, which Open vSwitch's sources are compiled with as well.
AC_DEFUN([WEFT_SANITIZERS],
  [AC_ARG_ENABLE([asan],
     [AS_HELP_STRING([--enable-asan], [build with AddressSanitizer])],
     [], [enable_asan=no])
   AC_ARG_ENABLE([ubsan],
     [AS_HELP_STRING([--enable-ubsan],
        [build with UndefinedBehaviorSanitizer])],
     [], [enable_ubsan=no])
   AC_ARG_ENABLE([tsan],
     [AS_HELP_STRING([--enable-tsan], [build with ThreadSanitizer])],
     [], [enable_tsan=no])
   AS_CASE([$enable_asan/$enable_tsan],
     [yes/yes],
       [AC_MSG_ERROR([--enable-asan and --enable-tsan exclude each other: a program has room for one of them])])
   weft_sanitizers=
   AS_IF([test "$enable_asan" = yes],
     [weft_sanitizers="$weft_sanitizers,address"])
   AS_IF([test "$enable_ubsan" = yes],
     [weft_sanitizers="$weft_sanitizers,undefined"])
   AS_IF([test "$enable_tsan" = yes],
     [weft_sanitizers="$weft_sanitizers,thread"])
   SANITIZE_CFLAGS=
   AS_IF([test -n "$weft_sanitizers"],
     [weft_sanitizers=`echo "$weft_sanitizers" | sed 's/^,//'`
      SANITIZE_CFLAGS="-fsanitize=$weft_sanitizers -fno-omit-frame-pointer -fno-common"
      AC_MSG_CHECKING([whether $CC links with $SANITIZE_CFLAGS])
      weft_save_CFLAGS=$CFLAGS
      CFLAGS="$CFLAGS $SANITIZE_CFLAGS"
      AC_LINK_IFELSE([AC_LANG_PROGRAM([], [])],
        [AC_MSG_RESULT([yes])],
        [AC_MSG_RESULT([no])
         AC_MSG_ERROR([$CC cannot link with -fsanitize=$weft_sanitizers; see config.log (Debian packages: libasan8, libubsan1 and libtsan2 with gcc, libclang-rt-dev with clang)])])
      CFLAGS=$weft_save_CFLAGS])
   AM_CONDITIONAL([SANITIZE], [test -n "$weft_sanitizers"])
   AC_SUBST([SANITIZE_CFLAGS])])
