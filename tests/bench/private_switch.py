# SPDX-License-Identifier: Apache-2.0
"""An ovs-vswitchd of our own, with DPDK and one bridge, for a benchmark.

To be used by root in namespaces that belong to it, see tests/system/isolated:
its devices have fixed names.  The switch's PMD thread is on CPU 1, all else of
it on CPU 0.
"""

import os
import re
import shutil
import subprocess
import time

PMD_CPU = 1
LOAD_CPU = 0
PATIENCE = 60


class SwitchError(Exception):
    """Something did not work; the text says what."""


class Switch:
    """The programs of 'tree', a build directory of Open vSwitch's, run in
    'directory', which is made.  A context manager: it is gone afterwards."""

    def __init__(self, tree, directory, schema, megabytes, impl=None):
        self.tree = os.path.abspath(tree)
        self.directory = directory
        self.schema = schema
        self.megabytes = megabytes
        self.daemons = []
        self.environment = dict(
            os.environ, OVS_RUNDIR=directory, OVS_LOGDIR=directory,
            OVS_DBDIR=directory, OVS_SYSCONFDIR=directory)
        if impl:
            self.environment['WEFT_DPIF_IMPL'] = impl

    def __enter__(self):
        os.makedirs(self.directory)
        try:
            self._start()
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *exception):
        self._stop()

    def _run(self, program, *arguments, text=None):
        command = [os.path.join(self.tree, program), *arguments]
        done = subprocess.run(command, env=self.environment, input=text,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              universal_newlines=True, check=False)
        if done.returncode:
            raise SwitchError('%s %s: %s' % (
                os.path.basename(program), ' '.join(arguments)[:200],
                done.stdout.strip()[-500:]))
        return done.stdout

    def vsctl(self, *arguments):
        return self._run('utilities/ovs-vsctl', '--timeout=%d' % PATIENCE,
                         *arguments)

    def appctl(self, *arguments):
        return self._run('utilities/ovs-appctl', '--timeout=%d' % PATIENCE,
                         *arguments)

    def add_flows(self, lines):
        self._run('utilities/ovs-ofctl', '-O', 'OpenFlow15', '--bundle',
                  'add-flows', 'br0', '-', text='\n'.join(lines) + '\n')

    def _daemon(self, program, *arguments):
        with open(os.path.join(self.directory, 'out'), 'ab') as out:
            self.daemons.append(subprocess.Popen(
                ['taskset', '-c', str(LOAD_CPU),
                 os.path.join(self.tree, program), *arguments,
                 '--log-file', '--pidfile'],
                env=self.environment, stdin=subprocess.DEVNULL, stdout=out,
                stderr=out, cwd=self.directory))

    def _start(self):
        self._run('ovsdb/ovsdb-tool', 'create',
                  os.path.join(self.directory, 'conf.db'), self.schema)
        socket = os.path.join(self.directory, 'db.sock')
        self._daemon('ovsdb/ovsdb-server', 'conf.db',
                     '--remote=punix:' + socket)
        self.vsctl('--no-wait', '--retry', 'init')
        self.vsctl(
            '--no-wait', 'set', 'Open_vSwitch', '.',
            'other_config:dpdk-init=true',
            'other_config:dpdk-lcore-mask=%#x' % (1 << LOAD_CPU),
            'other_config:pmd-cpu-mask=%#x' % (1 << PMD_CPU),
            'other_config:dpdk-extra="--no-pci --in-memory -m %d"'
            % self.megabytes,
            # All flows stay, however long their dump takes here.
            'other_config:flow-limit=1000000', 'other_config:max-idle=600000')
        self._daemon('vswitchd/ovs-vswitchd', 'unix:' + socket)
        self.vsctl('add-br', 'br0', '--', 'set', 'Bridge', 'br0',
                   'datapath_type=netdev', 'fail_mode=secure',
                   'protocols=OpenFlow10,OpenFlow15')

    def _stop(self):
        for daemon in reversed(self.daemons):
            daemon.terminate()
            try:
                daemon.wait(20)
            except subprocess.TimeoutExpired:
                daemon.kill()
                daemon.wait()
        self.daemons = []
        shutil.rmtree(self.directory, ignore_errors=True)

    def log_tail(self):
        try:
            with open(os.path.join(self.directory, 'ovs-vswitchd.log'),
                      errors='replace') as log:
                return ''.join(log.readlines()[-15:])
        except OSError:
            return ''

    def add_dpdk_port(self, name, number, devargs, *settings):
        """Adds a port with OpenFlow number 'number'."""
        self.vsctl('add-port', 'br0', name, '--', 'set', 'Interface', name,
                   'type=dpdk', 'ofport_request=%d' % number,
                   'options:dpdk-devargs=' + devargs, *settings)
        error = self.vsctl('get', 'Interface', name, 'error').strip()
        if error != '[]':
            raise SwitchError('port %s: %s' % (name, error))

    def n_flows(self):
        """Returns how many megaflows the datapath has."""
        return int(re.search(r'flows: (\d+)',
                             self.appctl('dpctl/show')).group(1))

    def counters(self):
        """Returns {port: (received, sent, dropped)} in packets, and the
        time."""
        begin = time.monotonic()
        text = self.appctl('dpctl/show', '-s')
        now = (begin + time.monotonic()) / 2
        ports = {}
        for match in re.finditer(
                r'port \d+: (\S+).*\n\s+RX packets:(\d+) errors:\S+ '
                r'dropped:(\S+).*\n\s+TX packets:(\d+) errors:\S+ '
                r'dropped:(\S+)', text):
            drops = sum(int(n) for n in match.group(3, 5) if n.isdigit())
            ports[match.group(1)] = (int(match.group(2)), int(match.group(4)),
                                     drops)
        return ports, now

    def misses(self):
        """Returns how many packets found no flow."""
        return sum(int(n) for n in re.findall(
            r'miss with \w+ upcall: (\d+)',
            self.appctl('dpif-netdev/pmd-stats-show')))
