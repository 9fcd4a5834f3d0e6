import { describe, expect, it } from 'vitest'
import { type AddressClass, classifyAddress } from '../../src/targets/address-class.ts'

const TABLE: readonly (readonly [AddressClass, string, readonly string[]])[] = [
  ['never', 'this network', ['0.0.0.0', '0.255.255.255', '::', '0:0:0:0:0:0:0:0']],
  ['never', 'link-local', ['169.254.0.0', '169.254.255.255', 'fe80::1', 'febf:ffff::1', 'fe80::1%eth0']],
  [
    'never',
    'metadata of AWS, Azure, Google, OpenStack',
    ['169.254.169.254', 'fd00:ec2::254', 'fd20:ce::254'],
  ],
  ['never', 'credentials of ECS and EKS', ['169.254.170.2', '169.254.170.23', 'fd00:ec2::23']],
  ['never', 'the platform of Azure', ['168.63.129.16']],
  [
    'never',
    'metadata of Alibaba and of Oracle',
    [
      '100.100.100.200',
      'fd00:100::100:200',
      '192.0.0.192',
      'fd00:c1::a9fe:a9fe',
      'fd00:c1:0:0:0:0:169.254.169.254',
    ],
  ],
  ['never', 'metadata of Akamai and of Scaleway', ['fd00:a9fe:a9fe::1', 'fd00:42::42']],
  ['never', 'multicast', ['224.0.0.1', '239.255.255.255', 'ff02::1', 'ff0e::1']],
  ['never', 'reserved and broadcast', ['240.0.0.1', '255.255.255.255', '100::1', 'fec0::1']],
  ['never', 'no address', ['', 'localhost', '127.1', '0x7f000001', '1.2.3.4.5', '::1::', 'metadata']],
  [
    'never',
    'no address of this machine',
    ['127.0.0.999', '0x7f.0.0.1', '127.0.0.01', '127.0.0.1.evil.example'],
  ],
  ['loopback', 'loopback', ['127.0.0.1', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']],
  ['loopback', 'loopback, mapped', ['::ffff:127.0.0.1', '::ffff:7f00:1', '0:0:0:0:0:ffff:7f00:0001']],
  ['never', 'metadata, mapped', ['::ffff:169.254.169.254', '::ffff:a9fe:a9fe']],
  ['private', 'private, mapped', ['::ffff:10.0.0.1', '::ffff:c0a8:1']],
  ['public', 'public, mapped', ['::ffff:8.8.8.8']],
  ['never', 'loopback by NAT64', ['64:ff9b::127.0.0.1', '64:ff9b::7f00:1']],
  ['never', 'metadata by NAT64', ['64:ff9b::169.254.169.254', '64:ff9b::a9fe:a9fe']],
  ['never', 'NAT64 of a network’s own', ['64:ff9b:1::7f00:1', '64:ff9b:1::808:808']],
  ['private', 'private by NAT64', ['64:ff9b::10.1.2.3']],
  ['public', 'public by NAT64', ['64:ff9b::8.8.8.8']],
  ['never', 'loopback and metadata by 6to4', ['2002:7f00:1::', '2002:a9fe:a9fe::1']],
  ['private', 'private by 6to4', ['2002:c0a8:0101::1', '2002:0a00:0001:1::2']],
  ['never', 'by Teredo: its client is loopback', ['2001:0:808:808::80ff:fffe']],
  ['never', 'by Teredo: its client is metadata', ['2001:0:808:808:0:0:5601:5601']],
  ['never', 'by Teredo: its server is link-local', ['2001:0:a9fe:a9fe::f7f7:f7f7']],
  ['public', 'by Teredo: both are public', ['2001:0:808:808::f7f7:f7f7']],
  ['never', 'IPv4-compatible and -translated', ['::127.0.0.1', '::169.254.169.254', '::ffff:0:127.0.0.1']],
  ['never', 'by ISATAP', ['2001:db8::5efe:127.0.0.1', '2001:db8::200:5efe:169.254.169.254']],
  ['private', 'RFC 1918', ['10.0.0.0', '10.255.255.255', '172.16.0.1', '172.31.255.255', '192.168.255.255']],
  ['private', 'carriers’ NAT and benchmarks', ['100.64.0.1', '100.127.255.255', '198.18.0.1']],
  ['private', 'unique local', ['fc00::1', 'fd12:3456::1', 'fdff:ffff::1']],
  [
    'private',
    'the neighbours of metadata in it',
    ['fd00:c1::1', 'fd00:42::41', 'fd00:a9fe:a9fe::2', 'fd00:100::1'],
  ],
  ['public', 'everything else', ['8.8.8.8', '1.1.1.1', '172.15.255.255', '172.32.0.1', '192.167.255.255']],
  ['public', 'everything else of IPv6', ['2606:4700::1111', '2001:4860:4860::8888', '2a00:1450::1']],
  [
    'public',
    'the neighbours of what is denied',
    ['169.253.255.255', '169.255.0.0', '126.255.255.255', '128.0.0.0'],
  ],
  ['public', 'the neighbours of metadata', ['168.63.129.15', '168.63.129.17', '223.255.255.255']],
]

describe('S4: the class of an address', () => {
  for (const [expected, what, addresses] of TABLE) {
    for (const address of addresses) {
      it(`The class of an address is ${expected} for ${what}: ${address || '(empty)'}`, () => {
        expect(classifyAddress(address)).toBe(expected)
      })
    }
  }

  it('The class of an address is the same in capitals', () => {
    for (const [expected, , addresses] of TABLE)
      for (const address of addresses) expect(classifyAddress(address.toUpperCase())).toBe(expected)
  })
})
