import type { AlertBody, AlertFacts, AlertTopic } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { findSlackFaults } from '../../test/find-slack-faults.ts'
import { writeAlert } from './write-alert.ts'

const FACTS: AlertFacts = {
  rule: 'attention',
  state: 'open',
  problem: 'bank-a compensate 500',
  count: 3,
  since: 1_700_000_000_000,
  names: ['transfer'],
  sampleGids: ['order-1', 'order-2'],
}
const CONSOLE = 'https://counterstep.example/prefix'

const writeJson = (facts: Partial<AlertFacts>) =>
  JSON.parse(writeAlert('json', { ...FACTS, ...facts }, CONSOLE)) as AlertBody
const writeSlack = (facts: Partial<AlertFacts>) =>
  JSON.parse(writeAlert('slack', { ...FACTS, ...facts }, CONSOLE)) as unknown

describe('an alert as JSON', () => {
  it('has the facts, the sentences and a link to the problem, and nothing else', () => {
    expect(writeJson({})).toEqual({
      rule: 'attention',
      state: 'open',
      problem: 'bank-a compensate 500',
      count: 3,
      since: 1_700_000_000_000,
      names: ['transfer'],
      sampleGids: ['order-1', 'order-2'],
      headline: '3 transactions need a person. bank-a answers 500 (the compensation).',
      advice: 'The service runs and fails: its own log has the reason.',
      link: `${CONSOLE}/console/#/problems?problem=bank-a%20compensate%20500`,
    })
  })

  it('leaves out what it is not made for', () => {
    const facts = { ...FACTS, gid: 'alert-1', targets: ['ops'], decidedAt: 1 }
    expect(writeAlert('json', facts, CONSOLE)).toBe(writeAlert('json', FACTS, CONSOLE))
  })

  for (const [facts, headline, page] of [
    [
      { count: 1 },
      '1 transaction needs a person. bank-a answers 500 (the compensation).',
      '/problems?problem=bank-a%20compensate%20500',
    ],
    [
      { state: 'grown', count: 40, before: 4 },
      '40 transactions need a person (when it was told last: 4). bank-a answers 500 (the compensation).',
      '/problems?problem=bank-a%20compensate%20500',
    ],
    [
      { state: 'over' },
      'Over: no transaction needs a person for this any more. It was: bank-a answers 500 (the compensation).',
      '/problems?problem=bank-a%20compensate%20500',
    ],
    [
      { rule: 'failed', problem: 'a/b', count: 5, total: 40 },
      '13 % of the transactions “a/b” failed in the last 5 minutes: 5 of 40.',
      '/list?status=failed&name=a%2Fb',
    ],
    [
      { rule: 'failed', problem: '-', count: 5, total: 40 },
      '13 % of the transactions without a name failed in the last 5 minutes: 5 of 40.',
      '/list?status=failed',
    ],
    [
      { rule: 'stuck', problem: 'overdue' },
      'Transactions have been due for over a minute, and no server has taken them up for 5 minutes.',
      '/list?order=due',
    ],
    [
      { rule: 'stuck', problem: 'unfinished' },
      '3 transactions have been unfinished for over an hour.',
      '/list?order=due',
    ],
    [
      { rule: 'paused', problem: 'paused' },
      '3 transactions have been paused for over a day.',
      '/list?paused=true&order=-due',
    ],
    [
      { rule: 'store', problem: 'store-tail-lost' },
      'The store has lost the last of what it had acknowledged.',
      '/',
    ],
    [
      { rule: 'bulk', problem: 'abcdefghabcdefgh' },
      'The bulk job abcdefghabcdefgh needs a person: it has paused by itself, or ended with refusals.',
      '/bulk/abcdefghabcdefgh',
    ],
    [
      { rule: 'digest', problem: 'held-back', count: 181 },
      '181 further alerts were held back in the last hour, since there were so many.',
      '/problems',
    ],
    [{ rule: 'test', problem: 'test' }, 'This is a test. Alerts of Counterstep come here.', '/'],
  ] as const satisfies readonly (readonly [Partial<AlertFacts>, string, string])[]) {
    it(headline, () =>
      expect(writeJson(facts)).toMatchObject({ headline, link: `${CONSOLE}/console/#${page}` }),
    )
  }
})

const LONE_SURROGATE = '\ud83d'
const HOSTILE = '"><img onerror>&amp;<!channel> *bold* <https://evil.example|here> \u202etxet'
const TOPICS: readonly AlertTopic[] = [
  'attention',
  'failed',
  'stuck',
  'paused',
  'store',
  'bulk',
  'digest',
  'test',
]

describe('an alert for Slack', () => {
  it('has the words as text and as blocks, and one link', () => {
    expect(writeSlack({})).toEqual({
      text: '3 transactions need a person. bank-a answers 500 (the compensation). The service runs and fails: its own log has the reason.',
      mrkdwn: false,
      blocks: [
        {
          type: 'header',
          text: { type: 'plain_text', text: 'Counterstep: A person is needed', emoji: false },
        },
        {
          type: 'section',
          text: {
            type: 'plain_text',
            text: '3 transactions need a person. bank-a answers 500 (the compensation).\nThe service runs and fails: its own log has the reason.',
            emoji: false,
          },
        },
        {
          type: 'section',
          text: {
            type: 'plain_text',
            text: 'Names: transfer\nFor example: order-1, order-2\nSince: 2023-11-14T22:13:20.000Z',
            emoji: false,
          },
        },
        {
          type: 'section',
          text: {
            type: 'mrkdwn',
            text: `<${CONSOLE}/console/#/problems?problem=bank-a%20compensate%20500|Open the console>`,
            verbatim: true,
          },
        },
      ],
    })
  })

  for (const rule of TOPICS) {
    for (const state of ['open', 'grown', 'over'] as const) {
      it(`S31: keeps Slack's bounds and escapes, whatever it is about: ${rule} ${state}`, () => {
        for (const text of [HOSTILE, '&'.repeat(5_000), '🙂'.repeat(3_000), LONE_SURROGATE, '']) {
          const facts = {
            rule,
            state,
            problem: text,
            before: 2,
            total: 9,
            names: Array(5).fill(text),
            sampleGids: Array(5).fill(text),
          }
          expect(findSlackFaults(writeSlack(facts))).toEqual([])
        }
      })
    }
  }

  it('S31: The check of the schema finds what Slack would refuse or read as markup (mutants)', () => {
    const good = writeSlack({}) as { readonly blocks: readonly object[] }
    const section = (text: unknown) => ({ ...good, blocks: [{ type: 'section', text }] })
    for (const [fault, message] of [
      ['no text', { ...good, text: undefined }],
      ['an unknown field', { ...good, channel: '#general' }],
      ['more than 50 blocks', { ...good, blocks: Array(51).fill(good.blocks[1]) }],
      ['an unknown type', { ...good, blocks: [{ type: 'sectoin' }] }],
      ['a long section', section({ type: 'plain_text', text: 'x'.repeat(3_001) })],
      ['an empty section', section({ type: 'plain_text', text: '' })],
      [
        'a long header',
        { ...good, blocks: [{ type: 'header', text: { type: 'plain_text', text: 'x'.repeat(151) } }] },
      ],
      ['markup in a header', { ...good, blocks: [{ type: 'header', text: { type: 'mrkdwn', text: 'x' } }] }],
      ['a mention', section({ type: 'mrkdwn', text: '<!channel>' })],
      ['a sign that is not escaped', section({ type: 'plain_text', text: 'a & b' })],
      ['a cut escape', section({ type: 'plain_text', text: 'a &am' })],
    ] as const)
      expect(findSlackFaults(message), fault).not.toEqual([])
  })
})
