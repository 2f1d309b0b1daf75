# SPDX-License-Identifier: Apache-2.0
"""What bench-ports measures: ports to receive from, the flows that come from
them, and how many packets a second leave by the right ports.

A scenario is a class with 'name', 'title' and 'flows', and a method
measure(switch, options), which returns a dictionary of figures with at least
'mpps', or raises SwitchError when a packet went astray.
"""

import json
import os
import subprocess
import time

from private_switch import LOAD_CPU, SwitchError

SIZE = 64
SINKS = 2

# The counters of two ports are read one after another, and a PMD thread has a
# burst or two under way: so much may they differ in a run.
SKEW = 0.02


def source_address(flow):
    """The IPv4 source address of a flow of tests/system/dpdk-peer."""
    low = flow * 0x9e3779b1 & 0xffffff
    return '10.%d.%d.%d' % (low >> 16, low >> 8 & 255, low & 255)


def peer_command(options, vdevs, *arguments):
    command = ['taskset', '-c', str(LOAD_CPU), options.peer,
               '--in-memory', '--single-file-segments', '--no-pci',
               '--no-telemetry', '--file-prefix=peer', '-m', '256',
               '-l', str(LOAD_CPU)]
    for vdev in vdevs:
        command += ['--vdev', vdev]
    return command + ['--', '--size', str(SIZE), '--json', *arguments]


def run_peer(options, vdevs, *arguments):
    done = subprocess.run(peer_command(options, vdevs, *arguments),
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, universal_newlines=True,
                          check=False)
    if done.returncode:
        raise SwitchError('dpdk-peer: status %d: %s' % (
            done.returncode, done.stderr.strip()[-500:]))
    return json.loads(done.stdout.splitlines()[-1])


def await_flows(switch, wanted):
    """Waits until the datapath has 'wanted' flows, and a multiple of them in
    packets came without a miss."""
    deadline = time.monotonic() + 120
    misses_before = received_before = 0
    while True:
        n, misses = switch.n_flows(), switch.misses()
        received = switch.counters()[0]['source'][0]
        if misses != misses_before:
            misses_before, received_before = misses, received
        elif n >= wanted and received - received_before >= 3 * wanted:
            return
        if time.monotonic() > deadline:
            raise SwitchError('%d flows of %d after two minutes, %d packets, '
                              '%d misses' % (n, wanted, received, misses))
        time.sleep(0.3)


class Scenario:
    """One port, 'source', whose flows are spread over the sinks by rules, one
    for each flow."""

    def __init__(self, flows):
        self.flows = flows

    def rules(self):
        if self.flows == 1:
            return ['in_port=source, actions=output:sink0']
        return ['ip, in_port=source, nw_src=%s, actions=output:sink%d'
                % (source_address(flow), flow % SINKS)
                for flow in range(self.flows)]

    def share(self, sink):
        """The part of the packets that belongs to a sink."""
        n = (self.flows + SINKS - 1 - sink) // SINKS
        return n / self.flows

    def add_source(self, switch, options):
        raise NotImplementedError

    def begin(self, switch, options):
        """Lets packets come, where the port does not do so by itself."""

    def end(self):
        """The reverse."""

    def measure(self, switch, options):
        for sink in range(SINKS):
            switch.add_dpdk_port('sink%d' % sink, 10 + sink,
                                 'net_null%d,no-rx=1' % (10 + sink))
        self.add_source(switch, options)
        switch.add_flows(self.rules())
        self.begin(switch, options)
        try:
            await_flows(switch, self.flows)
            time.sleep(options.warmup)
            misses = switch.misses()
            before, begin = switch.counters()
            time.sleep(options.seconds)
            after, end = switch.counters()
            misses = switch.misses() - misses
        finally:
            self.end()
        return self.judge(before, after, end - begin, misses)

    def judge(self, before, after, seconds, misses):
        received = after['source'][0] - before['source'][0]
        sent = [after['sink%d' % i][1] - before['sink%d' % i][1]
                for i in range(SINKS)]
        total = sum(sent)
        if not total:
            raise SwitchError('nothing came out')
        if abs(received - total) > SKEW * total:
            raise SwitchError('%d packets in and %d out' % (received, total))
        for sink, n in enumerate(sent):
            expected = self.share(sink) * total
            if abs(n - expected) > SKEW * total + self.flows:
                raise SwitchError('%d of %d packets out by sink%d, %d expected'
                                  % (n, total, sink, expected))
        if misses:
            raise SwitchError('%d packets found no flow' % misses)
        return {'mpps': total / seconds / 1e6, 'received': received,
                'sent': total, 'seconds': seconds}


class Null(Scenario):
    """A port that makes empty packets as fast as it is asked."""

    name = 'null'
    title = 'net_null'

    def add_source(self, switch, options):
        switch.add_dpdk_port('source', 1, 'net_null1,size=%d' % SIZE)


class Pcap(Scenario):
    """A port that replays a file for ever."""

    name = 'pcap'
    title = 'net_pcap, infinite_rx'

    def add_source(self, switch, options):
        path = os.path.join(options.directory, '%d.pcap' % self.flows)
        if not os.path.exists(path):
            run_peer(options, ['net_pcap0,tx_pcap=' + path], '--mode',
                     'generate', '--flows', str(self.flows), '--count',
                     str(self.flows))
        switch.add_dpdk_port('source', 1,
                             'net_pcap1,rx_pcap=%s,infinite_rx=1' % path)


class Memif(Scenario):
    """Shared memory, with a generator in another process on the other CPU."""

    name = 'memif'
    title = 'net_memif'

    def __init__(self, flows):
        super().__init__(flows)
        self.peer = None
        self.socket = None

    def add_source(self, switch, options):
        self.socket = os.path.join(switch.directory, 'memif.sock')
        switch.add_dpdk_port(
            'source', 1, 'net_memif1,role=server,socket=%s,'
            'socket-abstract=no' % self.socket)

    def begin(self, switch, options):
        self.peer = subprocess.Popen(
            peer_command(options, ['net_memif0,role=client,socket=%s,'
                                   'socket-abstract=no' % self.socket],
                         '--mode', 'generate', '--flows', str(self.flows)),
            stdin=subprocess.PIPE, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)

    def end(self):
        self.peer.terminate()
        self.peer.wait()


class AfPacket(Scenario):
    """A veth pair to a network namespace on either side, opened by DPDK's
    net_af_packet; UDP from the one, which the other counts.  Both hosts are
    on CPU 0, and as fast as they get there."""

    name = 'af_packet'
    title = 'net_af_packet, veth'

    HOSTS = (('left', 'source', 1, '10.99.0.1'),
             ('right', 'sink0', 10, '10.99.0.2'))

    def __init__(self, flows):
        super().__init__(flows)
        self.processes = []

    def _host(self, command, host):
        return ['ip', 'netns', 'exec', host, 'taskset', '-c', str(LOAD_CPU),
                *command]

    def _add_host(self, switch, host, port, number, address):
        for command in (
                'ip netns add %s' % host,
                'ip link add ovs-%s type veth peer name eth0 netns %s'
                % (host, host),
                'ip netns exec %s ethtool -K eth0 tx off' % host,
                'ip -n %s addr add %s/24 dev eth0' % (host, address),
                'ip -n %s link set eth0 up' % host,
                'ip link set ovs-%s up promisc on' % host):
            done = subprocess.run(command.split(), stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT, check=False)
            if done.returncode:
                raise SwitchError('%s: %s' % (command, done.stdout.decode()))
        switch.add_dpdk_port(port, number,
                             'net_af_packet%d,iface=ovs-%s' % (number, host))

    def _load(self, host, options, *arguments):
        process = subprocess.Popen(
            self._host([options.udp_load, '--json', '--workers=%d'
                        % self.flows, *arguments], host),
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, universal_newlines=True)
        self.processes.append(process)
        return process

    def _result(self, process):
        out, err = process.communicate(timeout=120)
        lines = out.splitlines()
        if process.returncode or not lines:
            raise SwitchError('ovs-udp-load: status %d: %s'
                              % (process.returncode, err.strip()))
        return json.loads(lines[-1])

    def measure(self, switch, options):
        try:
            for host in self.HOSTS:
                self._add_host(switch, *host)
            switch.add_flows(['in_port=source, actions=output:sink0',
                              'in_port=sink0, actions=output:source'])
            sink = self._load('right', options, '--receive=recvmmsg',
                              '--interval=0', '--rcvbuf=8388608', '--once',
                              'sink')
            json.loads(sink.stdout.readline())      # It is ready.
            source = self._load(
                'left', options, '--interval=0',
                '--seconds=%g' % (options.warmup + options.seconds),
                'source', self.HOSTS[1][3])
            sent = self._result(source)
            received = self._result(sink)
            before = switch.counters()[0]
        finally:
            for process in self.processes:
                process.kill()
                process.wait()
            self.processes = []
            for host, _, _, _ in self.HOSTS:
                subprocess.run(['ip', 'netns', 'del', host],
                               stderr=subprocess.DEVNULL, check=False)
        if received['duplicates'] or received['foreign']:
            raise SwitchError('datagrams that nobody sent: %s' % received)
        if not received['packets']:
            raise SwitchError('nothing arrived')
        return {'mpps': received['packets_per_second'] / 1e6,
                'received': sent['packets'], 'sent': received['packets'],
                'seconds': received['seconds'],
                'latency_ns': received['latency_ns'],
                'in_switch': before}
