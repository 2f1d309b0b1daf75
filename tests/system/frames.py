#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends Ethernet frames, with VLAN tags or without, and counts those that
arrive.  This needs no VLAN device in the kernel.

frames.py send DEVICE LABEL [--vlan VID[.PCP]]... [--count N] [--size BYTES]
          [--from ADDRESS --to ADDRESS] [--source MAC] [--destination MAC]
    Sends N frames (one, if not given) that are marked with LABEL, a word.
    They are UDP packets between those addresses, IPv4 or IPv6, or else of
    the EtherType for experiments; broadcasts, if no MAC is given.

frames.py receive DEVICE FILE
    Counts the marked frames until it is killed.  FILE, which appears once it
    listens and is kept up to date, has a line for each label and tags, such as
    "red vlan 10 vlan 20.3: 5", which ends with ", 2 of them twice" if frames
    came again.
"""

import argparse
import ipaddress
import os
import re
import socket
import struct
import sys

MARK = b'weft-frame '
ETH_P_ALL = 3
ETH_P_EXPERIMENT = 0x88b5
TPIDS = (0x8100, 0x88a8)
UDP_PORT = 7001

# From linux/if_packet.h.
SOL_PACKET = 263
PACKET_ADD_MEMBERSHIP = 1
PACKET_AUXDATA = 8
PACKET_MR_PROMISC = 1
TP_STATUS_VLAN_VALID = 1 << 4
AUXDATA = struct.Struct('=IIIHHHH')


def tag(text):
    match = re.fullmatch(r'(\d{1,4})(?:\.([0-7]))?', text)
    if not match or int(match[1]) > 4095:
        raise argparse.ArgumentTypeError(
            'a tag is VID or VID.PCP, such as 10.3, not "%s"' % text)
    return int(match[1]) | int(match[2] or 0) << 13


def tag_text(tci):
    pcp = '.%d' % (tci >> 13) if tci >> 13 else ''
    return ' vlan %d%s' % (tci & 0xfff, pcp)


def mac(text):
    if not re.fullmatch(r'[0-9a-fA-F]{2}(:[0-9a-fA-F]{2}){5}', text):
        raise argparse.ArgumentTypeError('"%s" is no MAC address' % text)
    return bytes.fromhex(text.replace(':', ''))


def internet_checksum(data):
    data += b'\0' * (len(data) % 2)
    total = sum(struct.unpack('!%dH' % (len(data) // 2), data))
    while total >> 16:
        total = (total & 0xffff) + (total >> 16)
    return ~total & 0xffff


def udp_packet(source, destination, payload):
    """Returns the EtherType and the IP packet."""
    size = 8 + len(payload)
    ends = source.packed + destination.packed
    udp = struct.pack('!HHHH', UDP_PORT, UDP_PORT, size, 0) + payload
    pseudo = ends + struct.pack('!II', size, socket.IPPROTO_UDP)
    csum = internet_checksum(pseudo + udp) or 0xffff
    udp = udp[:6] + struct.pack('!H', csum) + payload
    if source.version == 6:
        return 0x86dd, struct.pack('!IHBB', 6 << 28, size,
                                   socket.IPPROTO_UDP, 64) + ends + udp
    head = struct.pack('!BBHHHBBH', 0x45, 0, 20 + size, 0, 0, 64,
                       socket.IPPROTO_UDP, 0)
    csum = internet_checksum(head + ends)
    return 0x0800, head[:10] + struct.pack('!H', csum) + ends + udp


def send(args):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW)
    s.bind((args.device, 0))
    tags = b''.join(struct.pack('!HH', TPIDS[0], t) for t in args.vlan)
    for i in range(args.count):
        payload = MARK + b'%s %d ' % (args.label.encode(), i)
        ether_type = ETH_P_EXPERIMENT
        if args.source_ip:
            room = args.size - (42 if args.source_ip.version == 4 else 62)
            payload = payload.ljust(room, b'.')
            ether_type, payload = udp_packet(args.source_ip,
                                             args.destination_ip, payload)
        frame = (args.destination + args.source + tags
                 + struct.pack('!H', ether_type) + payload)
        s.send(frame.ljust(args.size + len(tags), b'\0'))


class Counts:
    """What arrived, by label and tags, and its file."""

    def __init__(self, path):
        self.path = path
        self.frames = {}
        self.write()

    def take(self, frame, ancillary):
        tags = []
        for level, kind, data in ancillary:
            if (level, kind) == (SOL_PACKET, PACKET_AUXDATA):
                aux = AUXDATA.unpack(data[:AUXDATA.size])
                if aux[0] & TP_STATUS_VLAN_VALID:
                    # The kernel took the outer tag off.
                    tags.append(aux[5])
        at = 12
        while len(frame) >= at + 6 \
                and struct.unpack_from('!H', frame, at)[0] in TPIDS:
            tags.append(struct.unpack_from('!H', frame, at + 2)[0])
            at += 4
        at = frame.find(MARK, at)
        if at < 0:
            return
        label, number = frame[at + len(MARK):].split(b' ', 2)[:2]
        key = label.decode() + ''.join(tag_text(t) for t in tags)
        seen = self.frames.setdefault(key, {})
        seen[int(number)] = seen.get(int(number), 0) + 1

    def write(self):
        with open(self.path + '.new', 'w', encoding='ascii') as f:
            for key, seen in sorted(self.frames.items()):
                again = sum(1 for n in seen.values() if n > 1)
                f.write('%s: %d%s\n' % (
                    key, sum(seen.values()),
                    ', %d of them twice' % again if again else ''))
        os.rename(self.path + '.new', self.path)


def receive(args):
    s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW,
                      socket.htons(ETH_P_ALL))
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.setsockopt(SOL_PACKET, PACKET_AUXDATA, 1)
    s.bind((args.device, ETH_P_ALL))
    s.setsockopt(SOL_PACKET, PACKET_ADD_MEMBERSHIP,
                 struct.pack('=IHH8x', socket.if_nametoindex(args.device),
                             PACKET_MR_PROMISC, 0))
    counts = Counts(args.file)
    while True:
        s.settimeout(None)
        try:
            while True:
                frame, ancillary, _, address = s.recvmsg(70000, 256)
                if address[2] != socket.PACKET_OUTGOING:
                    counts.take(frame, ancillary)
                # Those that are there already are counted before it writes.
                s.settimeout(0.0001)
        except (BlockingIOError, TimeoutError):
            counts.write()


def word(text):
    if not re.fullmatch(r'[\w-]+', text, re.ASCII):
        raise argparse.ArgumentTypeError('"%s" is no word' % text)
    return text


def number(text):
    if not re.fullmatch(r'[1-9]\d{0,6}', text):
        raise argparse.ArgumentTypeError('"%s" is no number above 0' % text)
    return int(text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True, metavar='send|receive')
    verb = verbs.add_parser('send')
    verb.set_defaults(run=send)
    verb.add_argument('device')
    verb.add_argument('label', type=word)
    verb.add_argument('--vlan', type=tag, action='append', default=[])
    verb.add_argument('--count', type=number, default=1)
    verb.add_argument('--size', type=number, default=100)
    verb.add_argument('--from', type=ipaddress.ip_address, dest='source_ip')
    verb.add_argument('--to', type=ipaddress.ip_address,
                      dest='destination_ip')
    verb.add_argument('--source', type=mac, default=mac('02:00:00:00:00:99'))
    verb.add_argument('--destination', type=mac,
                      default=mac('ff:ff:ff:ff:ff:ff'))
    verb = verbs.add_parser('receive')
    verb.set_defaults(run=receive)
    verb.add_argument('device')
    verb.add_argument('file')
    args = parser.parse_args()
    if args.run == send:
        ends = [args.source_ip, args.destination_ip]
        if ends.count(None) == 1 or (ends.count(None) == 0
                                     and ends[0].version != ends[1].version):
            parser.error('--from and --to go together, of one IP version')
    try:
        args.run(args)
    except OSError as problem:
        sys.exit('frames.py: %s: %s' % (args.device, problem.strerror))


if __name__ == '__main__':
    main()
