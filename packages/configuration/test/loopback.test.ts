import { describe, expect, it } from 'vitest'
import { isLoopback } from '../src/loopback.ts'

const LOOPBACK = ['localhost', '127.0.0.1', '127.0.0.0', '127.255.255.255', '::1', '0:0:0:0:0:0:0:1']
/** None of these texts is an address of this machine, though most of them look like one. */
const OTHERS = [
  ...['127.0.0.999', '127.256.0.1', '127.1', '127.0.1', '127.0.0.1.evil.example', '0x7f.0.0.1', '0177.0.0.1'],
  ...['127.0.0.01', '2130706433', '127.0.0.1.', ' 127.0.0.1', '127.0.0.1:80', '127.0.0.1/8', 'localhost.'],
  ...[
    'localhost.evil.example',
    '[::1]',
    '::1.evil.example',
    '::2',
    '::',
    '0.0.0.0',
    '128.0.0.1',
    '126.0.0.1',
    '',
  ],
]

describe('S43: this machine', () => {
  it.each(LOOPBACK)('The host %j is this machine', (host) => expect(isLoopback(host)).toBe(true))

  it.each(OTHERS)('The host %j is not this machine', (host) => expect(isLoopback(host)).toBe(false))

  it('Mutant: by its digits alone, a text that is no address would pass', () => {
    const byDigits = (host: string) => /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
    expect(OTHERS.filter(byDigits)).toEqual(['127.0.0.999', '127.256.0.1', '127.0.0.01'])
  })
})
