# SPDX-License-Identifier: Apache-2.0
"""Runs generated Autotest suites: what run-testsuite and check-system share.
"""

import collections
import os
import re
import shutil
import signal
import subprocess
import sys

Test = collections.namedtuple('Test', 'number file title keywords')

# "  12: title      ok" and, when tests run in parallel, just the same.
RESULT = re.compile(r'^\s*(\d+): (.*?)\s+(ok|FAILED|skipped|expected failure|'
                    r'UNEXPECTED PASS)(?: +\((.*)\))?\s*$')


def fail(message):
    sys.exit(f'{os.path.basename(sys.argv[0])}: {message}')


def lines_of(path):
    """Yields (line number, text) of what is not a comment."""
    try:
        with open(path) as file:
            for number, line in enumerate(file, 1):
                line = line.split('#')[0].strip()
                if line:
                    yield number, line
    except OSError as error:
        fail(f'{path}: {error.strerror}')


class Suite:
    """The generated test suite, run in the directory of programs.

    It leaves its files in 'work', seen from there.  The command 'inside', if
    any, runs the command that follows it."""

    def __init__(self, script, directory, path, work='tests', inside=()):
        self.name = os.path.basename(script)
        self.directory = os.path.join(os.path.abspath(directory), work)
        self.groups = os.path.join(self.directory, self.name + '.dir')
        self.command = ['/bin/sh', script, '-C', work,
                        'AUTOTEST_PATH=' + path]
        self.inside = list(inside)
        self.cwd = directory
        self.process = None

    def tests(self, arguments=()):
        """Returns all tests that 'arguments' select, by number."""
        done = subprocess.run(self.command + ['-l', *arguments], cwd=self.cwd,
                              stdout=subprocess.PIPE, text=True)
        if done.returncode:
            fail('the test suite does not list its tests')
        tests = {}
        last = None
        for line in done.stdout.splitlines():
            match = re.match(r'\s*(\d+): (\S+):\d+\s+(.*?)\s*$', line)
            if match:
                last = int(match[1])
                tests[last] = Test(last, match[2], match[3], [])
            elif last is not None and line.startswith('      '):
                tests[last].keywords.extend(line.split())
        return tests

    def run(self, arguments, live=None, stderr=None):
        """Runs some tests.  Returns {number: (title, outcome, place)}.  'live'
        is called with each line of output, and whether it is a result."""
        results = {}
        with subprocess.Popen(self.inside + self.command + arguments,
                              cwd=self.cwd, stdout=subprocess.PIPE,
                              stderr=stderr, text=True,
                              stdin=subprocess.DEVNULL,
                              errors='replace') as self.process:
            for line in self.process.stdout:
                match = RESULT.match(line)
                if match:
                    results[int(match[1])] = (match[2], match[3], match[4])
                if live:
                    live(line, bool(match))
            self.status = self.process.wait()
        self.process = None
        return results

    def end(self, number):
        """Passes a signal on and ends the daemons that tests have left
        running."""
        process = self.process
        if process:
            process.send_signal(number)
            process.wait()
        for pid in self.daemons():
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass

    def stop(self, number, frame):
        """Handles a signal."""
        self.end(number)
        os._exit(128 + number)

    def daemons(self):
        """Returns the processes that run in the directory of a test."""
        inside = self.groups + os.sep
        for pid in filter(str.isdigit, os.listdir('/proc')):
            try:
                if os.readlink(f'/proc/{pid}/cwd').startswith(inside):
                    yield int(pid)
            except OSError:
                pass

    def keep(self, number, where):
        """Saves what a failed test has left, before it runs again."""
        for name in os.listdir(self.groups) if os.path.isdir(self.groups) \
                else ():
            if name.isdigit() and int(name) == number:
                target = os.path.join(where, name)
                shutil.rmtree(target, ignore_errors=True)
                shutil.copytree(os.path.join(self.groups, name), target,
                                symlinks=True, ignore_dangling_symlinks=True,
                                ignore=not_plain)


def not_plain(directory, names):
    """Sockets and pipes cannot be copied."""
    return [name for name in names
            if not os.path.isfile(os.path.join(directory, name))
            and not os.path.isdir(os.path.join(directory, name))]
