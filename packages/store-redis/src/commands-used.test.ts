import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { SCRIPTS } from './generated/scripts.ts'
import { MANY_SHARDS, ShardKeys, toSlot } from './shards/shards.ts'

const PAGE = join(import.meta.dirname, '../../../docs/stores.md')
const COMPOSED = join(import.meta.dirname, '../../../infra/redis/start-redis.sh')
const TEXTS = Object.values(SCRIPTS).join('\n')
/** The driver sends these by itself, to choose a database and to follow a moving slot. */
const DRIVER_COMMANDS = ['select', 'asking']

function findCommandsUsed(): readonly string[] {
  const inScripts = [...TEXTS.matchAll(/(?:redis\.p?|\b)call\('(\w+)'/g)].map(([, name]) =>
    String(name).toLowerCase(),
  )
  const sources = readdirSync(import.meta.dirname, { recursive: true, encoding: 'utf8' })
    .filter((file) => file.endsWith('.ts') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(import.meta.dirname, file), 'utf8'))
    .join('\n')
  const sent = [...sources.matchAll(/(?:send|command)\((?:\w+, )?'(\w+)'(?:, \['(GET|SLOTS)')?/g)]
  const direct = sent.map(([, name, sub]) => (sub === undefined ? name : `${name}|${sub.toLowerCase()}`))
  return [...new Set([...inScripts, ...direct.map(String), ...DRIVER_COMMANDS])].sort()
}

function expectJustWhatIsUsed(acl: string): void {
  expect(acl).toContain(' resetchannels ~counterstep:* -@all ')
  expect(acl).not.toMatch(/\+@|~\*|allkeys|allcommands|nopass/)
  expect([...acl.matchAll(/\+(\S+)/g)].map(([, name]) => name).sort()).toEqual(findCommandsUsed())
}

it('S24: The documented ACL allows the commands that are used, and no other', () => {
  expectJustWhatIsUsed(
    /^ACL SETUSER counterstep ((?:.*\\\n)*.*)$/m.exec(readFileSync(PAGE, 'utf8'))?.[1] ?? '',
  )
})

it('S24: The Redis of the compose file gives its user the same commands', () => {
  expectJustWhatIsUsed(/^user counterstep (.*)$/m.exec(readFileSync(COMPOSED, 'utf8'))?.[1] ?? '')
})

it('S24: Scripts are constant texts that decode nothing and make no code of their arguments', () => {
  expect(TEXTS).not.toMatch(/cjson|cmsgpack|loadstring|\bload\s*\(|\bdofile\b|setfenv/)
  // The name of a command is a constant too, and never an argument.
  expect(TEXTS.match(/(?:redis\.p?|\b)call\((?!')/g)).toBeNull()
})

it('S24: No gid moves a key out of its shard', () => {
  for (const gid of ['}', '{', '{a}b', '}{', '{p1}', 'a\nb', 'a\r\nDEL x', '{}', '*', '?']) {
    const shard = MANY_SHARDS.toShard(gid)
    const keys = new ShardKeys('counterstep', shard)
    for (const key of [keys.row(gid), keys.definition(gid)]) {
      // Redis takes the tag from the first braces.
      const tag = key.slice(key.indexOf('{') + 1, key.indexOf('}'))
      expect(tag).toBe(`p${shard}`)
      expect(key.endsWith(`:${gid}`)).toBe(true)
    }
    expect(toSlot(shard)).toBeLessThan(16_384)
  }
})
