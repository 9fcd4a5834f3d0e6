import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  buildSignatureBase,
  CLOCK_SKEW_S,
  createSigningKeyText,
  LIFETIME_S_MAX,
  parseSigningKey,
  parseVerificationKey,
  signBase,
} from '../src/index.ts'
import {
  CALL,
  changeHeader,
  checkCall,
  ED25519,
  ED25519_PUBLIC,
  HMAC,
  NOW_S,
  removeHeader,
  type SentCall,
  signCall,
} from './signed-call.ts'

const SIGNED_HEADERS = [
  'content-type',
  'content-digest',
  'counterstep-attempt',
  'counterstep-epoch',
  'counterstep-accepted-at',
  'counterstep-gid',
  'counterstep-branch-id',
  'counterstep-op',
  'counterstep-kind',
]
const REQUIRED = ['@method', '@target-uri', ...SIGNED_HEADERS]

function flipBit(text: string, index: number): string {
  return text.slice(0, index) + String.fromCharCode(text.charCodeAt(index) ^ 1) + text.slice(index + 1)
}

/** Signs by the right key, over parameters that the test chooses. */
function signOver(names: readonly string[], tail: string, call: SentCall = signCall(CALL), key = ED25519) {
  const value = (name: string) =>
    name === '@method'
      ? call.method
      : name === '@target-uri'
        ? call.targetUri
        : (call.headers.find(([each]) => each === name)?.[1] ?? '')
  const parameters = `(${names.map((name) => `"${name}"`).join(' ')})${tail}`
  const signature = signBase(
    key,
    buildSignatureBase(
      names.map((name) => [name, value(name)] as const),
      parameters,
    ),
  )
  return changeHeader(
    changeHeader(call, 'signature-input', () => `counterstep=${parameters}`),
    'signature',
    () => `counterstep=:${signature}:`,
  )
}

function buildTail(changes: Readonly<Record<string, string | number>> = {}): string {
  const all = {
    created: NOW_S,
    expires: NOW_S + 300,
    keyid: `"${ED25519.keyId}"`,
    alg: '"ed25519"',
    tag: '"counterstep"',
    ...changes,
  }
  return Object.entries(all)
    .map(([name, value]) => `;${name}=${value}`)
    .join('')
}

describe('a call that is as it was signed', () => {
  for (const key of [ED25519, HMAC]) {
    it(`S19: A call that is as it was signed fits, by ${key.algorithm}, with and without a content type`, () => {
      expect(checkCall(signCall(CALL, key))).toBe('fits')
      const query = { ...CALL, method: 'GET', contentType: undefined, body: '' }
      expect(checkCall(signCall(query, key))).toBe('fits')
    })
  }

  it('S19: A call fits, whatever was signed', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 200 })
    const value = fc.stringMatching(/^[\x21-\x7e]([\x20-\x7e]{0,30}[\x21-\x7e])?$/)
    const count = fc.nat().map(String)
    const call = fc.record({
      method: fc.constantFrom('GET', 'POST'),
      targetUri: fc.webUrl({ withQueryParameters: true }),
      contentType: fc.option(value, { nil: undefined }),
      attempt: count,
      epoch: count,
      acceptedAt: count,
      gid: value,
      branchId: value,
      op: fc.constantFrom('action', 'compensate', 'msg'),
      kind: fc.constantFrom('saga', 'tcc', 'message'),
      body: text,
    })
    fc.assert(
      fc.property(
        call,
        fc.constantFrom(ED25519, HMAC),
        fc.integer({ min: -300, max: 300 }),
        (each, key, s) => {
          expect(checkCall(signCall(each, key), undefined, NOW_S + s)).toBe('fits')
        },
      ),
    )
  })

  it('S19: A call may be signed over more than it must, and in another order', () => {
    const call = { ...signCall(CALL), headers: [...signCall(CALL).headers, ['x-more', '1'] as const] }
    expect(checkCall(signOver(['x-more', ...REQUIRED.toReversed()], buildTail(), call))).toBe('fits')
  })
})

describe('a call that was changed', () => {
  const call = signCall(CALL)

  it.each(SIGNED_HEADERS)(
    'S19: A call is refused to whose header something was added that is no blank: %s',
    (name) => {
      for (const added of ['\u00a0', '\u2003', '\ufeff', '\v', '\f', '\n', '\r']) {
        expect(checkCall(changeHeader(call, name, (value) => `${value}${added}`))).not.toBe('fits')
        expect(checkCall(changeHeader(call, name, (value) => `${added}${value}`))).not.toBe('fits')
      }
      expect(checkCall(changeHeader(call, name, (value) => ` \t${value}\t `))).toBe('fits')
    },
  )

  it('S19: A changed call is refused for each flipped byte of each signed part', () => {
    let flips = 0
    const refused = (changed: SentCall) => {
      flips += 1
      expect(checkCall(changed)).not.toBe('fits')
    }
    for (let index = 0; index < call.method.length; index += 1) {
      refused({ ...call, method: flipBit(call.method, index) })
    }
    for (let index = 0; index < call.targetUri.length; index += 1) {
      refused({ ...call, targetUri: flipBit(call.targetUri, index) })
    }
    for (const name of [...SIGNED_HEADERS, 'signature-input', 'signature']) {
      const { length } = call.headers.find(([each]) => each === name)?.[1] ?? ''
      for (let index = 0; index < length; index += 1) {
        refused(changeHeader(call, name, (value) => flipBit(value, index)))
      }
    }
    for (let index = 0; index < call.body.length; index += 1) {
      const body = Uint8Array.from(call.body)
      body[index] = (body[index] ?? 0) ^ 1
      refused({ ...call, body })
    }
    expect(flips).toBeGreaterThan(400)
  })

  it('S19: A call is refused without any of its headers, and with any of them twice', () => {
    for (const name of [...SIGNED_HEADERS, 'signature-input', 'signature']) {
      expect(checkCall(removeHeader(call, name)), name).not.toBe('fits')
      const twice = {
        ...call,
        headers: call.headers.flatMap((header) => (header[0] === name ? [header, header] : [header])),
      }
      expect(checkCall(twice), name).toBe('malformed')
      expect(checkCall(changeHeader(call, name, (value) => `${value}, ${value}`)), name).not.toBe('fits')
    }
    expect(checkCall(removeHeader(removeHeader(call, 'signature-input'), 'signature'))).toBe('missing')
  })

  it('S18: A signature of an action fits no compensation, and no action of another transaction, branch or service', () => {
    for (const [from, to] of [
      ['op=action', 'op=compensate'],
      ['/debit', '/debit-undo'],
      ['gid=g-1', 'gid=g-2'],
      ['branch_id=01', 'branch_id=02'],
      ['trans_type=saga', 'trans_type=tcc'],
      ['bank.example', 'shop.example'],
      ['http:', 'https:'],
    ] as const) {
      expect(checkCall({ ...call, targetUri: call.targetUri.replace(from, to) }), to).toBe('mismatch')
    }
    const other = signCall({ ...CALL, body: '{"account":"alice","cents":9999}' })
    expect(checkCall({ ...call, body: other.body })).toBe('body')
    const digest = other.headers.find(([name]) => name === 'content-digest')?.[1] ?? ''
    expect(checkCall(changeHeader({ ...call, body: other.body }, 'content-digest', () => digest))).toBe(
      'mismatch',
    )
  })
})

describe('the identity headers of a call', () => {
  const IDENTITY = ['counterstep-gid', 'counterstep-branch-id', 'counterstep-op', 'counterstep-kind']
  const BEFORE = REQUIRED.filter((name) => !IDENTITY.includes(name))
  const earlier = IDENTITY.reduce(removeHeader, signCall(CALL))

  it('S39: The identity headers are not demanded of an orchestrator that does not send them yet', () => {
    expect(checkCall(signOver(BEFORE, buildTail(), earlier))).toBe('fits')
  })

  it('S39: A call is refused where the signature does not cover an identity header that is there', () => {
    for (const name of IDENTITY) {
      const added = { ...earlier, headers: [...earlier.headers, [name, 'other'] as const] }
      expect(checkCall(signOver(BEFORE, buildTail(), added)), name).toBe('malformed')
    }
  })

  it('S39: An identity header cannot be taken away from a signature that covers it', () => {
    for (const name of IDENTITY) expect(checkCall(removeHeader(signCall(CALL), name)), name).toBe('malformed')
  })
})

describe('the time that is left for a plan call', () => {
  const call = signCall({ ...CALL, op: 'plan', kind: 'workflow', budgetMs: '9000' })

  it('S19: It is signed where it is sent, and can be neither changed, taken away nor added', () => {
    expect(checkCall(call)).toBe('fits')
    expect(checkCall(changeHeader(call, 'counterstep-budget-ms', () => '1'))).toBe('mismatch')
    expect(checkCall(removeHeader(call, 'counterstep-budget-ms'))).toBe('malformed')
    const plain = signCall(CALL)
    const added = { ...plain, headers: [...plain.headers, ['counterstep-budget-ms', '1'] as const] }
    expect(checkCall(added)).toBe('malformed')
  })
})

describe('the header of an action that nothing undoes', () => {
  it('S19: It is signed where it is sent, and can be neither changed, taken away nor added', () => {
    for (const contentType of ['application/json', undefined]) {
      const { contentType: _, ...rest } = CALL
      const plain = signCall({ ...rest, contentType })
      const call = signCall({ ...rest, contentType, undo: 'none' })
      expect([checkCall(plain), checkCall(call)]).toEqual(['fits', 'fits'])
      expect(checkCall(changeHeader(call, 'counterstep-undo', () => 'some'))).toBe('mismatch')
      expect(checkCall(removeHeader(call, 'counterstep-undo'))).toBe('malformed')
      const added = { ...plain, headers: [...plain.headers, ['counterstep-undo', 'none'] as const] }
      expect(checkCall(added)).toBe('malformed')
    }
  })
})

describe('a signature that covers too little', () => {
  it('S19: A signature is refused for each component that it does not cover, though the key is right', () => {
    expect(checkCall(signOver(REQUIRED, buildTail()))).toBe('fits')
    for (const name of REQUIRED) {
      const names = REQUIRED.filter((each) => each !== name)
      expect(checkCall(signOver(names, buildTail())), name).toBe('malformed')
      expect(checkCall(signOver([...REQUIRED, name], buildTail())), `${name} twice`).toBe('malformed')
    }
    expect(checkCall(signOver([...REQUIRED, '@path'], buildTail()))).toBe('malformed')
    expect(checkCall(signOver([...REQUIRED, 'x-absent'], buildTail()))).toBe('malformed')
  })

  it('S19: A signature is refused without any of its parameters, with one twice, or with one that is unknown', () => {
    for (const name of ['created', 'expires', 'keyid', 'alg', 'tag']) {
      const part = new RegExp(`;${name}=[^;]*`)
      expect(checkCall(signOver(REQUIRED, buildTail().replace(part, ''))), name).toBe('malformed')
      const again = part.exec(buildTail())?.[0] ?? ''
      expect(checkCall(signOver(REQUIRED, buildTail() + again)), `${name} twice`).toBe('malformed')
    }
    for (const tail of [';nonce="1"', ';created="1"', ';alg=1', ';tag', ';keyid=?1']) {
      expect(checkCall(signOver(REQUIRED, buildTail() + tail)), tail).toBe('malformed')
    }
    expect(checkCall(signOver(REQUIRED, buildTail({ tag: '"other"' })))).toBe('malformed')
  })

  it('S19: A signature is refused under another label, and beside another signature', () => {
    const call = signCall(CALL)
    const labelled = (change: (value: string) => string) =>
      changeHeader(changeHeader(call, 'signature-input', change), 'signature', change)
    expect(checkCall(labelled((value) => value.replace('counterstep=', 'sig1=')))).toBe('malformed')
    expect(checkCall(labelled((value) => `${value}, ${value.replace('counterstep=', 'sig1=')}`))).toBe(
      'malformed',
    )
    expect(checkCall(labelled((value) => `${value};a`))).toBe('malformed')
  })
})

describe('a signature at the wrong time', () => {
  it('S19: A signature is refused when it is older or newer than the clocks may be apart', () => {
    const at = (createdAtS: number) => checkCall(signCall(CALL, ED25519, createdAtS))
    expect([at(NOW_S - CLOCK_SKEW_S), at(NOW_S + CLOCK_SKEW_S)]).toEqual(['fits', 'fits'])
    expect([at(NOW_S - CLOCK_SKEW_S - 1), at(NOW_S + CLOCK_SKEW_S + 1)]).toEqual(['expired', 'future'])
  })

  it('S20: A signature is refused when it lasts longer than a barrier remembers, or is old, however long it lasts', () => {
    const lasting = (created: number, lifetimeS: number) =>
      checkCall(signOver(REQUIRED, buildTail({ created, expires: created + lifetimeS })))
    expect(lasting(NOW_S, LIFETIME_S_MAX)).toBe('fits')
    expect(lasting(NOW_S, LIFETIME_S_MAX + 1)).toBe('malformed')
    expect(lasting(NOW_S - CLOCK_SKEW_S - 1, LIFETIME_S_MAX)).toBe('expired')
    expect(lasting(NOW_S - 10, 9)).toBe('expired')
    expect(lasting(NOW_S, 0)).toBe('malformed')
  })
})

describe('a signature by the wrong key', () => {
  it('S19: A signature is refused when its key is unknown, or is another under the same name', () => {
    const stranger = parseSigningKey(createSigningKeyText('ed25519'))
    expect(checkCall(signCall(CALL, stranger))).toBe('unknown-key')
    expect(checkCall(signCall(CALL, { ...stranger, keyId: ED25519.keyId }))).toBe('mismatch')
    expect(checkCall(signCall(CALL), [])).toBe('unknown-key')
  })

  it('S19: A signature is refused when it names another algorithm than the key has', () => {
    for (const alg of ['"hmac-sha256"', '"none"', '""', '"ED25519"', '"rsa-pss-sha512"']) {
      expect(checkCall(signOver(REQUIRED, buildTail({ alg }))), alg).toBe('algorithm')
    }
    // This is the classic confusion: the public key, which is no secret, is used as an HMAC secret.
    const x = ED25519_PUBLIC.key.export({ format: 'jwk' }).x ?? ''
    const posing = parseVerificationKey({ keyid: ED25519.keyId, alg: 'hmac-sha256', secret: x })
    const asHmac = { algorithm: 'hmac-sha256', keyId: ED25519.keyId, key: posing.key } as const
    expect(checkCall(signCall(CALL, asHmac))).toBe('algorithm')
    expect(checkCall(signOver(REQUIRED, buildTail(), signCall(CALL), asHmac))).toBe('mismatch')
  })

  it('S22: A signature fits while the old and the new key are both known', () => {
    const next = parseSigningKey(createSigningKeyText('ed25519'))
    const nextPublic = parseVerificationKey(
      next.key.export({ format: 'jwk' }).x === undefined ? '' : readPublicHalf(next),
    )
    const both = [ED25519_PUBLIC, nextPublic]
    expect([checkCall(signCall(CALL), both), checkCall(signCall(CALL, next), both)]).toEqual(['fits', 'fits'])
    expect(checkCall(signCall(CALL), [nextPublic])).toBe('unknown-key')
  })
})

function readPublicHalf(key: typeof ED25519): object {
  const { kty, crv, x } = key.key.export({ format: 'jwk' })
  return { kty, crv, x }
}
