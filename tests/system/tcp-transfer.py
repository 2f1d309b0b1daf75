#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sends bytes over TCP and has the other end prove that it got them.

tcp-transfer.py receive ADDRESS PORT
    Takes one connection, reads it to its end and answers with the number of
    bytes and their SHA-256.
tcp-transfer.py send ADDRESS PORT MEGABYTES
    Sends that many and ends with status 0 if the answer is what was sent.  It
    waits for the receiver to come up.
"""

import hashlib
import random
import socket
import sys
import time

MEGABYTE = 1000000
CONNECT_SECONDS = 20
SILENCE_SECONDS = 60


def fail(message):
    print('tcp-transfer.py: %s' % message, file=sys.stderr)
    sys.exit(1)


def integer(what, text, highest):
    if not text.isascii() or not text.isdigit() \
            or not 1 <= int(text) <= highest:
        fail('%s is a number from 1 to %d, not "%s"' % (what, highest, text))
    return int(text)


def receive(address, port):
    family = socket.AF_INET6 if ':' in address else socket.AF_INET
    listener = socket.create_server((address, port), family=family)
    listener.settimeout(SILENCE_SECONDS)
    connection, _ = listener.accept()
    connection.settimeout(SILENCE_SECONDS)
    digest = hashlib.sha256()
    total = 0
    while True:
        data = connection.recv(1 << 18)
        if not data:
            break
        digest.update(data)
        total += len(data)
    connection.sendall(b'%d %s\n' % (total, digest.hexdigest().encode()))
    connection.close()


def connect(address, port):
    deadline = time.monotonic() + CONNECT_SECONDS
    while True:
        try:
            return socket.create_connection((address, port), SILENCE_SECONDS)
        except OSError as error:
            if time.monotonic() > deadline:
                fail('no connection with %s: %s' % (address, error))
        time.sleep(0.05)


def send(address, port, megabytes):
    connection = connect(address, port)
    digest = hashlib.sha256()
    noise = random.Random(megabytes).getrandbits(8 * MEGABYTE)
    noise = bytearray(noise.to_bytes(MEGABYTE, 'big'))
    for i in range(megabytes):
        # No two pieces are alike, so that one in another's place is found.
        noise[:8] = i.to_bytes(8, 'big')
        connection.sendall(noise)
        digest.update(noise)
    connection.shutdown(socket.SHUT_WR)

    answer = b''
    while not answer.endswith(b'\n'):
        data = connection.recv(4096)
        if not data:
            fail('the receiver hung up without an answer')
        answer += data
    sent = '%d %s' % (megabytes * MEGABYTE, digest.hexdigest())
    received = answer.decode().strip()
    if received != sent:
        fail('sent %s, but what arrived is %s' % (sent, received))
    print(received.split()[0])


def main(arguments):
    if len(arguments) == 3 and arguments[0] == 'receive':
        receive(arguments[1], integer('PORT', arguments[2], 65535))
    elif len(arguments) == 4 and arguments[0] == 'send':
        send(arguments[1], integer('PORT', arguments[2], 65535),
             integer('MEGABYTES', arguments[3], 10000))
    else:
        print(__doc__, file=sys.stderr)
        sys.exit(2)


if __name__ == '__main__':
    try:
        main(sys.argv[1:])
    except OSError as problem:
        fail(problem)
