# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034,SC2154
#
# From a fresh clone to a finished build, doing only what is not done yet.
# To be sourced after common.sh.

logs=$build/quickstart

# packages_for NEED...: prints the packages for any of the NEEDs.
packages_for() {
    local package need wanted
    while read -r package need; do
        for wanted in "$@"; do
            [ "$need" != "$wanted" ] || echo "$package"
        done
    done < <(sed 's/#.*//; /^[[:space:]]*$/d' "$parts/packages")
}

# Installs those of the packages for the NEEDs given that are missing.
install_packages() {
    local missing=() package root
    local apt=(apt-get -q -y -o DPkg::Lock::Timeout=300)

    begin "Looking for missing packages"
    command -v dpkg-query >/dev/null && command -v apt-get >/dev/null \
        || fail "this is not a Debian system: install the equivalents of the \
packages in utilities/quickstart/packages yourself and follow \
Documentation/intro/install.rst"
    for package in $(packages_for "$@"); do
        case $(dpkg-query -W -f ' ${db:Status-Status} ' "$package" 2>&1) in
            *' installed '*) ;;
            *) missing+=("$package") ;;
        esac
    done
    if [ ${#missing[@]} -eq 0 ]; then
        say "nothing is missing"
        return
    fi
    say "to install: ${missing[*]}"
    root=$(root_command) || fail "installing packages takes root, and there \
is no sudo: as root, run \"apt-get install ${missing[*]}\""

    # A repository that does not answer is apt's to report; whether it
    # matters shows when the packages are installed.
    if [ -n "$root" ]; then
        # In the foreground, since sudo may have to ask for a password.
        $root "${apt[@]}" update || warn "apt-get update failed"
        $root env DEBIAN_FRONTEND=noninteractive "${apt[@]}" install \
            --no-install-recommends "${missing[@]}" \
            || fail "apt-get could not install all of them"
    else
        long_step "$logs/apt-update.log" "${apt[@]}" update \
            || warn "apt-get update failed: see $logs/apt-update.log"
        long_step "$logs/apt-install.log" \
            env DEBIAN_FRONTEND=noninteractive "${apt[@]}" install \
            --no-install-recommends "${missing[@]}" \
            || fail "apt-get could not install all of them" \
                "$logs/apt-update.log" "$logs/apt-install.log"
    fi
}

# Sets ovs_source to an Open vSwitch source tree.
find_openvswitch() {
    begin "Looking for the Open vSwitch sources"
    mkdir -p "$logs"
    ovs_source=$("$top/utilities/openvswitch-source" 2>"$logs/source.log") \
        || fail "no Open vSwitch sources" "$logs/source.log"
    say "$ovs_source"
}

# stale FILE SOURCE...: whether FILE is missing or older than a SOURCE.
stale() {
    local file=$1 source
    shift
    [ -e "$file" ] || return 0
    for source in "$@"; do
        [ ! "$source" -nt "$file" ] || return 0
    done
    return 1
}

# configure_tree DIR OPTION...: generates the configure script when what it is
# made from changed, and configures DIR when that has not happened yet or was
# done with other options.
configure_tree() {
    local dir=$1 options stamp inputs
    shift
    stamp=$dir/quickstart/options
    options="--with-openvswitch=$ovs_source $*"

    cd "$top" || exit 1
    inputs=$(find configure.ac Makefile.am m4 lib ofproto vswitchd \
        utilities tests Documentation \
        \( -name configure.ac -o -name Makefile.am -o -name automake.mk \
           -o -name '*.m4' \) 2>/dev/null | grep -v aclocal.m4)
    begin "Generating the configure script"
    # shellcheck disable=SC2086
    if stale configure $inputs || stale Makefile.in $inputs; then
        long_step "$logs/boot.log" ./boot.sh \
            || fail "boot.sh ended with an error" "$logs/boot.log"
        # Tools that find nothing to change leave the old time.
        touch configure Makefile.in
    else
        say "it is up to date"
    fi

    begin "Configuring ${dir#"$top/"}"
    mkdir -p "$dir/quickstart"
    if ! stale "$dir/config.status" configure \
        && [ "$(cat "$stamp" 2>/dev/null)" = "$options" ]; then
        say "it is configured"
        return
    fi
    # Debian's Python and Sphinx see the modules that Debian's packages bring;
    # others that come first in PATH may not.
    # shellcheck disable=SC2086
    long_step "$dir/quickstart/configure.log" env -C "$dir" \
        ../configure $options PYTHON3=/usr/bin/python3 \
        || fail "configure ended with an error" "$dir/quickstart/configure.log"
    echo "$options" >"$stamp"
}

# build_tree DIR [TARGET]...
build_tree() {
    local dir=$1 jobs
    shift
    jobs=$(nproc)
    begin "Building ${dir#"$top/"}, which takes minutes the first time"
    if ! long_step "$dir/quickstart/make.log" make -C "$dir" -j"$jobs" "$@"
    then
        # What went wrong is far above the end, where other jobs ended.
        grep -m 25 -E 'rror[: ]|undefined reference|\*\*\*' \
            "$dir/quickstart/make.log" >"$dir/quickstart/make-errors.log"
        fail "make ended with an error" "$dir/quickstart/make-errors.log" \
            "$dir/quickstart/make.log"
    fi
}
