import { NAME_LENGTH_MAX, TAG_KEY_LENGTH_MAX, TAG_VALUE_LENGTH_MAX, TAGS_MAX } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { SETTINGS } from '../../test/run-fixture.ts'
import { accepted, BRANCH, listFaults, parse, withFields } from '../../test/submissions.ts'
import { newTransactionRow } from '../rules/accept.ts'

const IDS = { gid: 'order-4711', digest: 'd'.repeat(64), token: 'a', writeId: 'w' } as never

/** Each entry has a title, a body and the expected faults. */
const BAD: readonly (readonly [string, unknown, ...string[]])[] = [
  ['the name of alerts', withFields({ name: 'counterstep.alert' }), 'SAGA_NAME_INVALID /name'],
  ['a name that is a number', withFields({ name: 7 }), 'SAGA_NAME_INVALID /name'],
  ['a name that is null', withFields({ name: null }), 'SAGA_NAME_INVALID /name'],
  ['an empty name', withFields({ name: '' }), 'SAGA_NAME_INVALID /name'],
  ['a name with a space', withFields({ name: 'a b' }), 'SAGA_NAME_INVALID /name'],
  ['a name with a line feed at its end', withFields({ name: 'a\n' }), 'SAGA_NAME_INVALID /name'],
  ['tags that are a list', withFields({ tags: ['region:eu'] }), 'SAGA_TAG_INVALID /tags'],
  ['tags that are null', withFields({ tags: null }), 'SAGA_TAG_INVALID /tags'],
  ['a tag that is a number', withFields({ tags: { tier: 2 } }), 'SAGA_TAG_INVALID /tags/tier'],
  ['an empty tag', withFields({ tags: { tier: '' } }), 'SAGA_TAG_INVALID /tags/tier'],
  ['a tag with a space', withFields({ tags: { tier: 'a b' } }), 'SAGA_TAG_INVALID /tags/tier'],
  ['a tag that is not ASCII', withFields({ tags: { tier: 'ä' } }), 'SAGA_TAG_INVALID /tags/tier'],
  ['a tag with a line feed at its end', withFields({ tags: { tier: '2\n' } }), 'SAGA_TAG_INVALID /tags/tier'],
  ['a key in upper case', withFields({ tags: { Tier: '2' } }), 'SAGA_TAG_INVALID /tags/Tier'],
  ['a key that begins with a digit', withFields({ tags: { '2a': 'x' } }), 'SAGA_TAG_INVALID /tags/2a'],
  ['a key with a colon', withFields({ tags: { 'a:b': 'x' } }), 'SAGA_TAG_INVALID /tags/a:b'],
  ['a key with a slash', withFields({ tags: { 'a/b': 'x' } }), 'SAGA_TAG_INVALID /tags/a~1b'],
  ['an empty key', withFields({ tags: { '': 'x' } }), 'SAGA_TAG_INVALID /tags/'],
  [
    'a key and a value that are wrong',
    withFields({ tags: { A: '' } }),
    'SAGA_TAG_INVALID /tags/A',
    'SAGA_TAG_INVALID /tags/A',
  ],
]

function manyTags(count: number) {
  return withFields({ tags: Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, 'v'])) })
}

const withTag = (key: string, value: string) => withFields({ tags: { [key]: value } })
const LIMITS: readonly (readonly [what: string, good: unknown, bad: unknown, fault: string])[] = [
  [
    'a name of 64 characters',
    withFields({ name: 'n'.repeat(NAME_LENGTH_MAX) }),
    withFields({ name: 'n'.repeat(NAME_LENGTH_MAX + 1) }),
    'SAGA_NAME_INVALID /name',
  ],
  ['8 tags', manyTags(TAGS_MAX), manyTags(TAGS_MAX + 1), 'SAGA_TAG_INVALID /tags'],
  [
    'a key of 32 characters',
    withTag('k'.repeat(TAG_KEY_LENGTH_MAX), 'v'),
    withTag('k'.repeat(TAG_KEY_LENGTH_MAX + 1), 'v'),
    `SAGA_TAG_INVALID /tags/${'k'.repeat(TAG_KEY_LENGTH_MAX + 1)}`,
  ],
  [
    'a tag of 64 characters',
    withTag('k', 'v'.repeat(TAG_VALUE_LENGTH_MAX)),
    withTag('k', 'v'.repeat(TAG_VALUE_LENGTH_MAX + 1)),
    'SAGA_TAG_INVALID /tags/k',
  ],
]

describe('a bad name or tag is refused with code and path', () => {
  for (const [what, body, ...faults] of BAD) it(`for ${what}`, () => expect(listFaults(body)).toEqual(faults))

  for (const [what, good, bad, fault] of LIMITS) {
    it(`lets pass exactly ${what}, and nothing over it`, () => {
      expect(listFaults(good)).toEqual([])
      expect(listFaults(bad)).toEqual([fault])
    })
  }
})

describe('a name and tags', () => {
  const naming = { name: 'AZaz09._:/-', tags: { region: 'eu', 'a_b.c-9': '!~"\'\\:', constructor: 'x' } }

  it.each([
    ['saga', { branches: [BRANCH] }],
    ['tcc', { kind: 'tcc' }],
    ['message', { kind: 'message', branches: [BRANCH] }],
  ])('A %s keeps them, and its row has them in columns', (_, body) => {
    const parsed = parse({ ...body, ...naming })
    if (parsed.type === 'refused') throw new Error(JSON.stringify(parsed.faults))
    expect(parsed.submission.definition).toMatchObject(naming)
    expect(newTransactionRow(parsed.submission, IDS, SETTINGS)).toMatchObject(naming)
  })

  it('A submit without them has neither, and tags without an entry are none', () => {
    for (const body of [withFields({}), withFields({ tags: {} })]) {
      const submission = accepted(body)
      for (const field of ['name', 'tags']) {
        expect(submission.definition).not.toHaveProperty(field)
        expect(newTransactionRow(submission, IDS, SETTINGS)).not.toHaveProperty(field)
      }
    }
  })

  it('They are content, whatever the order of the tags is', () => {
    const contentOf = (fields: Readonly<Record<string, unknown>>) => accepted(withFields(fields)).content
    const contents = [{}, { name: 'a' }, { name: 'b' }, { tags: { a: '1' } }, { tags: { a: '2' } }].map(
      contentOf,
    )
    expect(new Set(contents).size).toBe(contents.length)
    expect(contentOf({ tags: { a: '1', b: '2' } })).toBe(contentOf({ tags: { b: '2', a: '1' } }))
  })
})
