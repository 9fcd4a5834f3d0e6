import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { httpBranchCaller } from '@counterstep/branch-http'
import { loopbackTargets } from '@counterstep/branch-http/targets'
import type { BranchCall } from '@counterstep/core'
import type { BranchId, Gid } from '@counterstep/protocol'
import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  findForgery,
  GO,
  type Participant,
  PYTHON,
  readElsewhere,
  type Seen,
  startParticipants,
} from './call-identity/participants.ts'

const OURS = { gid: 'own-1', trans_type: 'saga', branch_id: '01', op: 'action' } as const
const VICTIM = { gid: 'VICTIM', trans_type: 'saga', branch_id: 'debit', op: 'compensate' } as const
const OUR_QUERY = new URLSearchParams(OURS).toString()
const CALL = {
  gid: OURS.gid as Gid,
  kind: 'saga',
  branchId: OURS.branch_id as BranchId,
  op: 'action',
  attempt: 1,
  epoch: 1,
  acceptedAt: 1,
  method: 'POST',
  body: '{}',
  contentType: 'application/json',
  headers: {},
  timeoutMs: 10_000,
  wordsCount: false,
} as const satisfies Omit<BranchCall, 'url'>

const SPELLINGS: readonly ((name: string) => string)[] = [
  (name) => name,
  (name) => `[${name}]`,
  (name) => `${name}[]`,
  (name) => `${name}[0]`,
  (name) => `${name}[x]`,
  (name) => `${name}.x`,
  (name) => name.toUpperCase(),
  (name) => `%5B${name}%5D`,
  (name) => `%${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
  (name) => `%25${name.charCodeAt(0).toString(16)}${name.slice(1)}`,
  (name) => ` ${name}`,
  (name) => `+${name}`,
  (name) => `${name}%00`,
  (name) => `${name}%20`,
  (name) => name.replace('_', '.'),
  (name) => name.replace('_', '%20'),
  (name) => name.replace('_', '['),
  (name) => `__proto__[${name}]`,
  (name) => `[][${name}]`,
  (name) => `=[${name}]`,
  (name) => `%EF%BD%87${name.slice(1)}`,
  (name) => `${name}%C1%A7`,
]
const JOINTS = ['&', '&', '&', ';', '?', '%26', '%3B', '%3F', '&&', '&=']

const name = fc.constantFrom(...Object.keys(VICTIM))
const hostile = fc
  .tuple(fc.constantFrom(...SPELLINGS), name)
  .map(([spell, of]) => `${spell(of)}=${VICTIM[of as keyof typeof VICTIM]}`)
const benign = fc.constantFrom(
  'a=1',
  'account=%C3%A9',
  'op_type=3',
  'filter[a]=b',
  'x.y=2',
  'gidx=1',
  'my_gid=2',
  '',
)
const odd = fc.string({ unit: fc.constantFrom(...'gid_op[].=&;?%2526+5BD'), maxLength: 12 })
/** Draws up to twelve parameters, most of them of one sort, and sometimes enough of nothing to make a parser stop. */
const suffix = fc
  .tuple(
    fc.constantFrom('?', '?', '?', ';', '%3F', '/x;y?', ''),
    fc.oneof(
      fc.array(fc.tuple(benign, fc.constantFrom('&')), { maxLength: 12 }),
      fc.array(fc.tuple(fc.oneof(benign, hostile, odd), fc.constantFrom(...JOINTS)), { maxLength: 12 }),
    ),
    fc.constantFrom(0, 0, 0, 30, 1_010),
  )
  .map(([start, pieces, padding]) => start + pieces.flat().join('') + '&'.repeat(padding))
const RUNS = Number(process.env.TEST_IDENTITY_RUNS ?? 1_500)

describe('S39: the identity of a call', () => {
  let participants: readonly Participant[]
  const targets = loopbackTargets()
  const caller = httpBranchCaller({ targets })

  beforeAll(async () => {
    participants = await startParticipants()
  })
  afterAll(async () => {
    await caller.close()
    for (const participant of participants) await participant.close()
  })

  async function seenBy({ url }: Participant, own: string): Promise<Seen> {
    const { statusCode, excerpt = '{}' } = await caller.call({ ...CALL, url: `${url}/branch${own}` })
    // Express refuses a path that it cannot decode, such as `/branch%`, before any handler sees the call.
    if (statusCode === 400) return { refused: 'by the framework' }
    expect(statusCode).toBe(200)
    return JSON.parse(excerpt)
  }

  it('The identity of a call is ours to every participant, or the URL is refused, whatever stands in its query', async () => {
    let [refused, called] = [0, 0]
    await fc.assert(
      fc.asyncProperty(suffix, async (own) => {
        const refusal = targets.check(`http://127.0.0.1:9/branch${own}`)
        if (refusal !== undefined) {
          refused++
          expect(refusal.code).toBe('SAGA_URL_INVALID')
          return
        }
        called++
        for (const participant of participants) {
          const seen = await seenBy(participant, own)
          expect([participant.name, findForgery(seen, OURS)]).toEqual([participant.name, undefined])
          // A URL that was taken must be served, or its transaction would never end.
          const isBroken = seen.refused === 'by the framework' && own.includes('%')
          if (participant.name.endsWith('guarded') && !isBroken) expect(seen).toEqual(OURS)
        }
      }),
      { numRuns: RUNS / 5 },
    )
    expect([refused > RUNS / 20, called > RUNS / 20]).toEqual([true, true])
  }, 120_000)

  for (const [language, command] of [
    ['Go', GO],
    ['Python', PYTHON],
  ] as const) {
    it(`The identity of a call is ours to services in ${language}, or the URL is refused`, async (context) => {
      const recorded = await recordTargets(fc.sample(suffix, RUNS))
      expect(recorded.length).toBeGreaterThan(RUNS / 20)
      const read = readElsewhere(command, recorded)
      if (read === undefined) return context.skip(`no ${language} on this machine`)
      expect(read).toHaveLength(recorded.length)
      for (const [at, seen] of read.entries()) {
        const readings = language === 'Go' ? [seen] : (Object.values(seen) as Seen[])
        for (const reading of readings)
          expect([recorded[at], findForgery(reading, OURS)]).toEqual([recorded[at], undefined])
      }
    }, 120_000)
  }

  /** Records the targets as they are sent for those URLs that the check lets pass. */
  async function recordTargets(owns: readonly string[]): Promise<readonly string[]> {
    const recorded: string[] = []
    const server = createServer((request, response) => {
      recorded.push(request.url ?? '')
      response.end()
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const base = `http://127.0.0.1:${(server.address() as AddressInfo).port}/branch`
    for (const own of owns) {
      if (targets.check(base + own) === undefined) await caller.call({ ...CALL, url: base + own })
    }
    await new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
    return recorded
  }

  describe('mutants', () => {
    const PADDING = '&'.repeat(1_001)
    const spelt = (spell: (name: string) => string) =>
      Object.entries(VICTIM)
        .map(([each, value]) => `${spell(each)}=${value}`)
        .join('&')

    /**
     * Names the participants that read a forged identity from a target, though its last or first four parameters are
     * ours.
     */
    async function forged(target: string): Promise<readonly string[]> {
      const names: string[] = []
      for (const { name: participant, url } of participants) {
        const response = await fetch(url + target, { method: 'POST' })
        if (findForgery((await response.json()) as Seen, OURS) !== undefined) names.push(participant)
      }
      return names
    }

    it('Mutant: padding hides our parameters from qs and node:querystring where they stand last', async () => {
      const target = `/branch?${spelt((each) => `[${each}]`)}${PADDING}${OUR_QUERY}`
      expect(await forged(target)).toEqual(['Express 4 extended, trusting', 'Express 5 extended, trusting'])
      const plain = `/branch?${spelt((each) => each)}${PADDING}${OUR_QUERY}`
      expect(await forged(plain)).toEqual(
        expect.arrayContaining([
          'Express 4 simple, trusting',
          'Express 4 extended, trusting',
          'Express 5 simple, trusting',
          'Express 5 extended, trusting',
        ]),
      )
    })

    it('Mutant: a service that takes the first of two values reads a forged identity, without padding, where ours stands last', async () => {
      const target = `/branch?${spelt((each) => each)}&${OUR_QUERY}`
      expect(await forged(target)).toContain('URLSearchParams, trusting')
      const go = readElsewhere(GO, [target])
      if (go !== undefined) expect(go).toEqual([VICTIM])
    })

    it('Mutant: a service that takes the last of two values reads a forged identity where names are not checked', () => {
      const python = readElsewhere(PYTHON, [`/branch?${OUR_QUERY}&${spelt((each) => each)}`])
      if (python !== undefined) expect(python[0]).toMatchObject({ first: OURS, last: VICTIM })
    })
  })
})
