import type { ServerKind } from './offers.ts'

const DATABASES: readonly ServerKind[] = ['mariadb', 'mysql', 'redis', 'redis-cluster', 'postgres']
const ALL: readonly ServerKind[] = [...DATABASES, 'postgres18', 'pgbouncer', 'elasticmq']

/** The first entry that a path contains decides. */
export const KINDS_OF_PATH: readonly (readonly [string, readonly ServerKind[]])[] = [
  ['/packages/store-mysql/', ['mariadb', 'mysql']],
  ['/packages/store-postgres/', ['postgres', 'postgres18', 'pgbouncer']],
  ['/packages/store-redis/', ['redis', 'redis-cluster']],
  ['/testing/test-servers/test/shared-redis.', ['redis', 'redis-cluster']],
  ['/testing/lambda-emulator/', ['elasticmq']],
  ['/functions/', ['mariadb', 'postgres', 'redis', 'elasticmq']],
  ['/bench/test/servers/workflow.', ['postgres']],
  ['/bench/', ['mariadb', 'redis', 'postgres']],
  ['/testing/chaos/', ['mariadb', 'redis', 'postgres', 'elasticmq']],
  ['/examples/', ['mariadb', 'postgres']],
  ['/sdk/test/servers/', DATABASES],
  ['/testing/system/servers/hosts/', ['mariadb', 'elasticmq']],
  ['/testing/system/servers/', DATABASES],
]

/** Finds the kinds of servers that these test files may need. A store's tests use its own servers, and those of this package use any. */
export function neededKinds(files: readonly string[]): readonly ServerKind[] {
  const needed = new Set(files.flatMap((file) => findKinds(file.replaceAll('\\', '/'))))
  return ALL.filter((kind) => needed.has(kind))
}

function findKinds(file: string): readonly ServerKind[] {
  return KINDS_OF_PATH.find(([part]) => file.includes(part))?.[1] ?? ALL
}
