import { globSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { KINDS_OF_PATH, neededKinds } from './needed-kinds.ts'

for (const [title, files, kinds] of [
  ['No file needs no server', [], []],
  [
    'The tests of the MySQL store need its servers',
    ['/r/packages/store-mysql/test/a.test.ts'],
    ['mariadb', 'mysql'],
  ],
  [
    'The tests of the PostgreSQL store need an older and a newer server and a pooler',
    ['/r/packages/store-postgres/test/a.test.ts'],
    ['postgres', 'postgres18', 'pgbouncer'],
  ],
  [
    'The tests of the Redis store need other servers',
    ['/r/packages/store-redis/test/a.test.ts'],
    ['redis', 'redis-cluster'],
  ],
  [
    'The test of the shared Redis needs no other server',
    ['/r/testing/test-servers/test/shared-redis.test.ts'],
    ['redis', 'redis-cluster'],
  ],
  [
    'A path may have backslashes',
    ['C:\\r\\packages\\store-redis\\test\\a.test.ts'],
    ['redis', 'redis-cluster'],
  ],
  [
    'Tests of several stores need all their servers',
    ['/r/packages/store-mysql/test/a.test.ts', '/r/testing/system/servers/b.test.ts'],
    ['mariadb', 'mysql', 'redis', 'redis-cluster', 'postgres'],
  ],
  [
    'The tests of the SDK need every database',
    ['/r/sdk/test/servers/a.test.ts'],
    ['mariadb', 'mysql', 'redis', 'redis-cluster', 'postgres'],
  ],
  [
    'The tests of the servers need every kind',
    ['/r/testing/test-servers/test/a.test.ts'],
    ['mariadb', 'mysql', 'redis', 'redis-cluster', 'postgres', 'postgres18', 'pgbouncer', 'elasticmq'],
  ],
  [
    'The emulator of Lambda needs a queue',
    ['/r/testing/lambda-emulator/test/servers/a.test.ts'],
    ['elasticmq'],
  ],
  [
    'The tests of functions need a queue, too',
    ['/r/functions/test/a.test.ts'],
    ['mariadb', 'redis', 'postgres', 'elasticmq'],
  ],
  [
    'The tests of hosts need a queue',
    ['/r/testing/system/servers/hosts/a.test.ts'],
    ['mariadb', 'elasticmq'],
  ],
  [
    'The tests of chaos need three stores and a queue',
    ['/r/testing/chaos/test/servers/a.test.ts'],
    ['mariadb', 'redis', 'postgres', 'elasticmq'],
  ],
  [
    'The tests of the bench need three stores',
    ['/r/bench/test/servers/a.test.ts'],
    ['mariadb', 'redis', 'postgres'],
  ],
  [
    'The tests of examples need two databases',
    ['/r/examples/a/test/servers/a.test.ts'],
    ['mariadb', 'postgres'],
  ],
] as const) {
  it(title, () => expect(neededKinds(files)).toEqual(kinds))
}

it.each(KINDS_OF_PATH)('The path %s leads to files of the repository', (part) => {
  const root = join(import.meta.dirname, '../../../..')
  expect(globSync(`${part.slice(1)}*`, { cwd: root })).not.toEqual([])
})
