import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { KINDS_OF_PATH, neededKinds } from './needed-kinds.ts'

for (const [title, files, kinds] of [
  ['no file needs no server', [], []],
  ["a store's tests need its servers", ['/r/packages/store-mysql/test/a.test.ts'], ['mariadb', 'mysql']],
  ['the other store needs others', ['/r/packages/store-redis/test/a.test.ts'], ['redis', 'redis-cluster']],
  [
    "the harness's test of Redis needs no other",
    ['/r/testing/test-servers/test/shared-redis.test.ts'],
    ['redis', 'redis-cluster'],
  ],
  [
    'a path may have backslashes',
    ['C:\\r\\packages\\store-redis\\test\\a.test.ts'],
    ['redis', 'redis-cluster'],
  ],
  [
    'tests of several stores need all',
    ['/r/packages/store-mysql/test/a.test.ts', '/r/testing/system/servers/b.test.ts'],
    ['mariadb', 'mysql', 'redis', 'redis-cluster'],
  ],
  [
    "the SDK's barriers are on every database",
    ['/r/sdk/test/servers/a.test.ts'],
    ['mariadb', 'mysql', 'redis', 'redis-cluster', 'postgres'],
  ],
  [
    'the emulator of Lambda has a queue',
    ['/r/testing/lambda-emulator/test/servers/a.test.ts'],
    ['elasticmq'],
  ],
  ['functions have a queue, too', ['/r/functions/test/a.test.ts'], ['mariadb', 'redis', 'elasticmq']],
  ['hosts of a saga have a queue', ['/r/testing/system/servers/hosts/a.test.ts'], ['mariadb', 'elasticmq']],
  [
    'chaos hurts two, and asks one queue',
    ['/r/testing/chaos/test/servers/a.test.ts'],
    ['mariadb', 'redis', 'elasticmq'],
  ],
  ['the bench measures two', ['/r/bench/test/servers/a.test.ts'], ['mariadb', 'redis']],
  ['examples are services', ['/r/examples/a/test/servers/a.test.ts'], ['mariadb', 'postgres']],
] as const) {
  it(title, () => expect(neededKinds(files)).toEqual(kinds))
}

it.each(KINDS_OF_PATH)('the path %s leads to files of the repository', (part) => {
  const root = join(import.meta.dirname, '../../../..')
  expect(globSync(`${part.slice(1)}*`, { cwd: root })).not.toEqual([])
})
