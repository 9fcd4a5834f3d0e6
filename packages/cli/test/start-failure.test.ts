import { StoreUnavailableError } from '@counterstep/core'
import { CounterstepError } from '@counterstep/protocol'
import { expect, it } from 'vitest'
import { describeFailure } from '../src/start-failure.ts'

const CANARY = 'canary-3141592'
const system = Object.assign(new Error('listen EACCES: permission denied 0.0.0.0:80'), {
  code: 'EACCES',
  syscall: 'listen',
})
const refused = Object.assign(new Error(CANARY), { code: 'ECONNREFUSED' })

const ROWS: readonly (readonly [unknown, object])[] = [
  [
    new CounterstepError('SAGA_STORE_UNSUPPORTED', 'too old'),
    { code: 'SAGA_STORE_UNSUPPORTED', sentence: 'SAGA_STORE_UNSUPPORTED: too old' },
  ],
  [
    new CounterstepError('SAGA_STORE_NOT_DURABLE', 'class C'),
    {
      code: 'SAGA_STORE_NOT_DURABLE',
      sentence:
        'SAGA_STORE_NOT_DURABLE: class C (--store-accept-class-c starts all the same; what a Redis hides is told by --store-durability)',
    },
  ],
  [
    new StoreUnavailableError('no connection', { applied: 'no', cause: refused }),
    { code: 'SAGA_STORE_UNAVAILABLE', sentence: 'SAGA_STORE_UNAVAILABLE: no connection (ECONNREFUSED)' },
  ],
  [
    new StoreUnavailableError('no connection: ECONNREFUSED', { applied: 'no', cause: refused }),
    { code: 'SAGA_STORE_UNAVAILABLE', sentence: 'SAGA_STORE_UNAVAILABLE: no connection: ECONNREFUSED' },
  ],
  [
    new StoreUnavailableError('self-signed certificate', { applied: 'no' }),
    {
      code: 'SAGA_STORE_UNAVAILABLE',
      sentence:
        'SAGA_STORE_UNAVAILABLE: self-signed certificate ' +
        '(--store-tls-ca names the certificates to trust, --store-tls off goes without)',
    },
  ],
  [
    new StoreUnavailableError('/data/a.db: user 7 may not write /data, of user 0 and mode 755', {
      applied: 'no',
    }),
    {
      code: 'SAGA_STORE_UNAVAILABLE',
      sentence:
        'SAGA_STORE_UNAVAILABLE: /data/a.db: user 7 may not write /data, of user 0 and mode 755 ' +
        '(--data names another folder, which the user that starts the server must own)',
    },
  ],
  [system, { sentence: system.message }],
  [new TypeError(`Invalid URL: ${CANARY}`), { sentence: 'an unexpected TypeError' }],
  [CANARY, { sentence: 'an unexpected string' }],
]

for (const [error, expected] of ROWS) {
  it(`A failed start is described without what its error may quote: ${String(error).replace(CANARY, '…')}`, () => {
    expect(describeFailure(error)).toEqual(expected)
  })
}
