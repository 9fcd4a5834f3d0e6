import type { ServerKind } from './offers.ts'

const DATABASES: readonly ServerKind[] = ['mariadb', 'mysql', 'redis', 'redis-cluster', 'postgres']
const ALL: readonly ServerKind[] = [...DATABASES, 'elasticmq']

/** The first of these that a path holds counts. */
const KINDS_OF_PATH: readonly (readonly [string, readonly ServerKind[]])[] = [
  ['/packages/store-mysql/', ['mariadb', 'mysql']],
  ['/packages/store-redis/', ['redis', 'redis-cluster']],
  ['/packages/test-servers/test/shared-redis.', ['redis', 'redis-cluster']],
  ['/packages/lambda-emulator/', ['elasticmq']],
  ['/functions/', ['mariadb', 'redis', 'elasticmq']],
  ['/bench/', ['mariadb', 'redis']],
  ['/chaos/', ['mariadb', 'redis', 'elasticmq']],
  ['/examples/', ['mariadb', 'postgres']],
  ['/sdk/test/servers/', DATABASES],
  ['/test/servers/homes/', ['mariadb', 'elasticmq']],
  // No store is in PostgreSQL.
  ['/test/servers/', ['mariadb', 'mysql', 'redis', 'redis-cluster']],
]

/** What a run of these test files may ask for. A store's tests use its own servers, those of the harness any. */
export function neededKinds(files: readonly string[]): readonly ServerKind[] {
  const needed = new Set(files.flatMap((file) => kindsOf(file.replaceAll('\\', '/'))))
  return ALL.filter((kind) => needed.has(kind))
}

function kindsOf(file: string): readonly ServerKind[] {
  return KINDS_OF_PATH.find(([part]) => file.includes(part))?.[1] ?? ALL
}
