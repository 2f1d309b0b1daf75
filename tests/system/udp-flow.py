#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends UDP packets at a rate, and counts those that arrive.

udp-flow.py send ADDRESS PORT --size BYTES --rate N --seconds S
    Sends frames of that many BYTES, from Ethernet header to payload, N a
    second.  Prints how many it sent and the milliseconds from the first to the
    last.  When it was kept from running, what it owes is sent at once.

udp-flow.py receive ADDRESS PORT FILE
    Counts what arrives until it is killed.  FILE, which appears once it
    listens and is kept up to date, has the number of different packets and
    that of those that came again.
"""

import argparse
import ipaddress
import os
import socket
import struct
import sys
import time

NUMBER = struct.Struct('!Q')
HEADERS = {4: 14 + 20 + 8, 6: 14 + 40 + 8}


def open_socket(address):
    family = socket.AF_INET6 if address.version == 6 else socket.AF_INET
    return socket.socket(family, socket.SOCK_DGRAM)


def send(args):
    s = open_socket(args.address)
    s.connect((str(args.address), args.port))
    room = args.size - HEADERS[args.address.version] - NUMBER.size
    if room < 0:
        sys.exit('udp-flow.py: a packet of %d bytes is too small'
                 % args.size)
    padding = b'.' * room
    total = args.rate * args.seconds
    sent = 0
    start = last = time.monotonic()
    while sent < total:
        due = min(total, int((time.monotonic() - start) * args.rate) + 1)
        while sent < due:
            s.send(NUMBER.pack(sent) + padding)
            sent += 1
        last = time.monotonic()
        time.sleep(max(0, start + sent / args.rate - last))
    print('%d %d' % (sent, round((last - start) * 1000)))


def receive(args):
    s = open_socket(args.address)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4 << 20)
    s.bind((str(args.address), args.port))
    seen = set()
    again = 0
    while True:
        with open(args.file + '.new', 'w', encoding='ascii') as f:
            f.write('%d %d\n' % (len(seen), again))
        os.rename(args.file + '.new', args.file)
        s.settimeout(None)
        due = None
        try:
            while due is None or time.monotonic() < due:
                number = NUMBER.unpack(s.recv(70000)[:NUMBER.size])
                again += number in seen
                seen.add(number)
                s.settimeout(0.02)
                due = due or time.monotonic() + 0.2
        except TimeoutError:
            pass


def number(text):
    if not text.isascii() or not text.isdigit() or not 0 < int(text) < 1 << 24:
        raise argparse.ArgumentTypeError('"%s" is no number above 0' % text)
    return int(text)


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True, metavar='send|receive')
    for run in send, receive:
        verb = verbs.add_parser(run.__name__)
        verb.set_defaults(run=run)
        verb.add_argument('address', type=ipaddress.ip_address)
        verb.add_argument('port', type=number)
        if run == send:
            verb.add_argument('--size', type=number, required=True)
            verb.add_argument('--rate', type=number, required=True)
            verb.add_argument('--seconds', type=number, required=True)
        else:
            verb.add_argument('file')
    args = parser.parse_args()
    try:
        args.run(args)
    except OSError as problem:
        sys.exit('udp-flow.py: %s port %d: %s'
                 % (args.address, args.port, problem.strerror))


if __name__ == '__main__':
    main()
